package preflight

import (
	"errors"
	"slices"
	"testing"
)

func TestJudgeAccess(t *testing.T) {
	t.Parallel()
	granted := []access{
		{namespace: "run", verb: "create", group: "batch", resource: "jobs", why: "gangs", allowed: true},
		{namespace: "run", verb: "get", resource: "pods", sub: "log", why: "gangs", allowed: true},
		{verb: "list", resource: "nodes", why: "which cluster", allowed: true},
		{namespace: "run", verb: "list", group: "kueue.x-k8s.io", resource: "localqueues", why: "gangs", unserved: true},
	}
	for name, tt := range map[string]struct {
		spoil   func(all []access)
		missing string
		want    []string
	}{
		"all":               {func([]access) {}, "", nil},
		"one":               {func(all []access) { all[0].allowed = false }, "", []string{"would-stop permissions namespace run: may not: create jobs.batch (gangs)"}},
		"two of one reason": {func(all []access) { all[0].allowed, all[1].allowed = false, false }, "", []string{"would-stop permissions namespace run: may not: create jobs.batch, get pods/log (gangs)"}},
		"two reasons": {func(all []access) { all[0].allowed, all[2].allowed = false, false }, "", []string{
			"would-stop permissions namespace run: create jobs.batch", "would-stop permissions cluster-wide: list nodes",
		}},
		"in a namespace that is missing": {func(all []access) { all[0].allowed = false }, "run", nil},
		"unknown":                        {func(all []access) { all[2].err = errors.New("timeout") }, "", []string{"unobserved permissions cluster-wide: timeout"}},
		"none reviewed": {func(all []access) {
			for i := range all {
				all[i].unserved = true
			}
		}, "", []string{"unobserved permissions cluster: no permission was reviewed"}},
	} {
		all := slices.Clone(granted)
		tt.spoil(all)
		require(t, name, judgeAccess(all, tt.missing, "apply the roles"), tt.want...)
	}
}

func TestLacks(t *testing.T) {
	t.Parallel()
	r := resources{groups: map[string][]string{"": {"pods", "pods/log"}, "broken": nil, "custom.metrics.k8s.io": {"namespaces/power"}}}
	for in, want := range map[[2]string]bool{
		{"", "pods"}: false, {"", "widgets"}: true, {"absent", "x"}: true, {"broken", "x"}: false, {"custom.metrics.k8s.io", "namespaces"}: false,
	} {
		if got := r.lacks(in[0], in[1]); got != want {
			t.Errorf("%q: %t", in, got)
		}
	}
	if (resources{err: errors.New("down")}).lacks("absent", "x") {
		t.Error("an unknown cluster lacks nothing")
	}
}
