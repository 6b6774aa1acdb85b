package preflight

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/site"
)

// countsOfRequests are the numbers in the line of the permissions.
var countsOfRequests = regexp.MustCompile(`all (\d+) requests of the gates are allowed; (\d+) more are`)

// TestRequestsOnThePages: the numbers of requests on the pages add up to those of the gates on a lab.
func TestRequestsOnThePages(t *testing.T) {
	t.Parallel()
	s, err := embedded.DefaultSite()
	if err != nil {
		t.Fatal(err)
	}
	s.Telemetry.Alert.Through = site.ThroughRule // the default of a file
	permissions, err := gate.Permissions(s, gate.Allowed{Gates: site.Gates()})
	if err != nil {
		t.Fatal(err)
	}
	want := len(requests(slices.DeleteFunc(permissions, func(p gate.Permission) bool { return p.Conditional })))
	for _, name := range []string{"preflight.md", "first-hour.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, m := range countsOfRequests.FindAllStringSubmatch(string(page), -1) {
			for _, number := range m[1:] {
				n, err := strconv.Atoi(number)
				if err != nil {
					t.Fatal(err)
				}
				sum += n
			}
		}
		if sum != want {
			t.Errorf("docs/%s: %d requests, the gates make %d", name, sum, want)
		}
	}
}

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
