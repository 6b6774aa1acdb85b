package recommended

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func healthyPool() pool {
	return pool{
		Namespace: "llm", Name: "qwen", Picker: "qwen-epp", PickerReady: 1, Servers: 2, Ready: 2,
		Parents: []poolParent{{Namespace: "llm", Gateway: "gw", Accepted: true, Resolved: true, Programmed: true, Service: "llm/gw:80"}},
	}
}

func TestJudgePools(t *testing.T) {
	t.Parallel()
	but := func(change func(*pool)) []pool {
		p := healthyPool()
		change(&p)
		return []pool{p}
	}
	stable := poolAPI{Version: "v1"}
	done := &ModelAnswer{Service: "llm/gw:80", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true, Tokens: 1}
	for name, tt := range map[string]struct {
		have   poolAPI
		pools  []pool
		answer *ModelAnswer
		want   submission.Status
		says   string
	}{
		"programmed, and poolAnswers":   {stable, []pool{healthyPool()}, done, submission.Implemented, "Qwen/Qwen3-0.6B answered through llm/gw:80"},
		"one of two":                    {stable, append(but(func(p *pool) { p.Ready = 0 }), healthyPool()), done, submission.Implemented, "answered"},
		"no answer":                     {stable, []pool{healthyPool()}, &ModelAnswer{Service: "llm/gw:80", Err: "HTTP status 404"}, submission.PartiallyImplemented, "through it failed: HTTP status 404"},
		"not asked":                     {stable, []pool{healthyPool()}, nil, "", "was not observed"},
		"no Service to ask through":     {stable, but(func(p *pool) { p.Parents[0].Service = "" }), nil, submission.PartiallyImplemented, "no Service has the label"},
		"no endpoint picker":            {stable, but(func(p *pool) { p.PickerReady = 0 }), nil, submission.PartiallyImplemented, "qwen-epp has no ready endpoint"},
		"no model server":               {stable, but(func(p *pool) { p.Ready = 0 }), nil, submission.PartiallyImplemented, "of the 2 model servers"},
		"no Gateway":                    {stable, but(func(p *pool) { p.Parents = nil }), nil, submission.PartiallyImplemented, "no Gateway routes to it"},
		"not accepted":                  {stable, but(func(p *pool) { p.Parents[0].Accepted = false }), nil, submission.PartiallyImplemented, "accepted: false"},
		"not resolved":                  {stable, but(func(p *pool) { p.Parents[0].Resolved = false }), nil, submission.PartiallyImplemented, "resolved: false"},
		"the Gateway is not programmed": {stable, but(func(p *pool) { p.Parents[0].Programmed = false }), nil, submission.PartiallyImplemented, "programmed: false"},
		"no pool":                       {stable, []pool{}, nil, submission.PartiallyImplemented, "InferencePool: not found"},
		"not served":                    {poolAPI{}, nil, nil, submission.NotImplemented, "serves neither"},
		"served before it was stable":   {poolAPI{Alpha: "v1alpha2"}, nil, nil, submission.NotImplemented, "only as inference.networking.x-k8s.io/v1alpha2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindPoolAPI, tt.have)}
			if tt.pools != nil {
				obs = append(obs, observation(t, kindPools, tt.pools))
			}
			if tt.answer != nil {
				obs = append(obs, observation(t, kindRequest, tt.answer))
			}
			j := (&Pools{}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, obs := range [][]check.Observation{nil, {observation(t, kindPoolAPI, stable)}} {
		if j := (&Pools{}).Judge(obs); j.Verdict != check.Unobserved || strings.HasPrefix(j.Reason, submission.PartlyShown) {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func observation(t *testing.T, kind string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{ID: kind, Kind: kind, Target: "cluster"}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
