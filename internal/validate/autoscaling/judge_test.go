package autoscaling

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

var conf = site.Autoscale{Autoscaler: "karpenter", Controller: "kube-system/karpenter", Adapter: "monitoring/prometheus-adapter"}

// story is a complete setup that test cases change.
type story struct {
	controller, adapter Program
	nodes, metrics      API
	samples             Samples
}

func good() story {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	return story{
		controller: Program{Name: conf.Controller, Desired: 1, Ready: 1, Current: true},
		adapter:    Program{Name: conf.Adapter, Desired: 2, Ready: 2, Current: true},
		nodes:      API{Group: "karpenter.sh", Served: true}, metrics: API{Group: apiMetrics, Served: true},
		samples: Samples{Metric: adapterrules.External, First: Sample{At: at, Value: "71"}, Last: Sample{At: at.Add(time.Second), Value: "71500m"}, Reads: 3},
	}
}

func (s story) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	for _, k := range []struct {
		kind, target string
		figures      any
	}{
		{kindProgram, conf.Controller, s.controller}, {kindProgram, conf.Adapter, s.adapter},
		{kindAPI, apiNodes, s.nodes}, {kindAPI, apiMetrics, s.metrics}, {kindSample, adapterrules.External, s.samples},
	} {
		o, err := check.Observation{ID: k.target, Kind: k.kind, Target: k.target}.WithFigures(k.figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(s *story)
		verdict check.Verdict
		says    string
	}{
		"all are running":         {func(*story) {}, check.Passed, "newer samples arrive (71500m)"},
		"no autoscaler":           {func(s *story) { s.controller.Absent = true }, check.Failed, "kube-system/karpenter, the autoscaler, not found"},
		"scaled to nothing":       {func(s *story) { s.controller.Desired, s.controller.Ready = 0, 0 }, check.Failed, "is scaled to 0"},
		"not all are ready":       {func(s *story) { s.adapter.Ready = 1 }, check.Failed, "has 1 of 2 pods ready"},
		"its status is old":       {func(s *story) { s.adapter.Current = false }, check.Failed, "the metrics adapter, has"},
		"the cloud's own":         {func(s *story) { s.controller = Program{Managed: true} }, check.Passed, ""},
		"no NodePools":            {func(s *story) { s.nodes.Served = false }, check.Failed, "karpenter.sh is not served"},
		"no metrics API":          {func(s *story) { s.metrics.Served = false }, check.Failed, "external.metrics.k8s.io is not served"},
		"no value":                {func(s *story) { s.samples.First, s.samples.Last = Sample{}, Sample{} }, check.Failed, "has no value after 3 reads"},
		"a value that is old":     {func(s *story) { s.samples.Last = s.samples.First }, check.Failed, "is stale"},
		"a value of zero":         {func(s *story) { s.samples.Last.Value = "0" }, check.Failed, `is "0"`},
		"a value that is no such": {func(s *story) { s.samples.Last.Value = "many" }, check.Failed, `is "many"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := good()
			tt.spoil(&s)
			j := New(&site.Site{Autoscale: conf}, Deps{}, Options{}).Judge(s.observations(t))
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

func TestEveryPartIsNeeded(t *testing.T) {
	t.Parallel()
	c := New(&site.Site{Autoscale: conf}, Deps{}, Options{})
	all := good().observations(t)
	for i := range all {
		broken := slices.Clone(all)
		broken[i].Err = "refused"
		for what, obs := range map[string][]check.Observation{
			"without": slices.Delete(slices.Clone(all), i, i+1), "in error": broken, "twice": append(slices.Clone(all), all[i]),
		} {
			if j := c.Judge(obs); j.Verdict != check.Unobserved {
				t.Errorf("%s %s: %s", all[i].Target, what, j.Verdict)
			}
		}
	}
}

// A platform whose nodes are bought has no autoscaler. The observations of a run that looked for one are judged as they were.
func TestAnAutoscalerIsNotNeededWhereNodesAreFixed(t *testing.T) {
	t.Parallel()
	c := New(&site.Site{Autoscale: conf}, Deps{}, Options{FixedNodes: true})
	s := good()
	all := s.observations(t)
	without := slices.DeleteFunc(slices.Clone(all), func(o check.Observation) bool { return o.Target == conf.Controller || o.Target == apiNodes })
	if j := c.Judge(without); j.Verdict != check.Passed || strings.Contains(j.Reason, "karpenter") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	if j := New(&site.Site{Autoscale: conf}, Deps{}, Options{}).Judge(without); j.Verdict == check.Passed {
		t.Errorf("an autoscaler that was not observed passes: %s", j.Reason)
	}
	s.controller.Absent = true
	if j := c.Judge(s.observations(t)); j.Verdict != check.Failed || !strings.Contains(j.Reason, "the autoscaler, not found") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
