package disaggregated

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func operators(version string, objects ...object) []operator {
	return []operator{{What: "NVIDIA Dynamo", Kind: "dynamographdeployments.nvidia.com", Version: version, Objects: objects}}
}

func pods(phases ...string) []phasePod {
	out := []phasePod{}
	for _, p := range phases {
		phase, state, _ := strings.Cut(p, " ")
		out = append(out, phasePod{Namespace: "llm", Pod: phase, Phase: phase, Ready: state == ""})
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	runs := object{Name: "llm/qwen", Ready: true}
	done := []answering.Answer{{Service: "llm/a:80", Err: "HTTP status 404"}, {Service: "llm/frontend:8000", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true}}
	elsewhere := pods(prefill, decode)
	elsewhere[1].Namespace = "other"
	for name, tt := range map[string]struct {
		operators []operator
		pods      []phasePod
		answers   []answering.Answer
		want      submission.Status
		says      string
	}{
		"runs, and answers":           {operators("v1alpha1", runs), pods(prefill, decode, decode), done, submission.Implemented, "1 prefill and 2 decode instances are ready in llm"},
		"without an operator":         {operators(""), pods(prefill, decode), done, submission.Implemented, "answered through llm/frontend:8000"},
		"no answer":                   {operators("v1alpha1", runs), pods(prefill, decode), done[:1], submission.PartiallyImplemented, "none was answered: llm/a:80: HTTP status 404"},
		"nobody to ask":               {operators("v1alpha1", runs), pods(prefill, decode), []answering.Answer{}, submission.PartiallyImplemented, "there is no Service"},
		"not asked":                   {operators("v1alpha1", runs), pods(prefill, decode), nil, "", "observed 0 times"},
		"its object is not ready":     {operators("v1alpha1", object{Name: "llm/qwen"}), pods(prefill, decode), done, submission.PartiallyImplemented, "none of their objects is ready: dynamographdeployments.nvidia.com llm/qwen"},
		"one of two objects is":       {operators("v1alpha1", object{Name: "llm/b"}, runs), pods(prefill, decode), done, submission.Implemented, "2 objects"},
		"decode alone":                {operators("v1alpha1", runs), pods(decode), nil, submission.PartiallyImplemented, "prefill 0 of 0 ready, decode 1 of 1 ready"},
		"prefill is not ready":        {operators("v1alpha1", runs), pods("prefill x", decode), nil, submission.PartiallyImplemented, "prefill 0 of 1 ready"},
		"in two namespaces":           {operators("v1alpha1", runs), elsewhere, nil, submission.PartiallyImplemented, "no namespace has ready ones of both"},
		"an operator that runs none":  {operators("v1alpha1"), pods(), nil, submission.PartiallyImplemented, "nothing that is disaggregated runs"},
		"a phase without an operator": {operators(""), pods("prefill x"), nil, submission.NotImplemented, "looked for dynamographdeployments.nvidia.com"},
		"nothing":                     {operators(""), pods(), nil, submission.NotImplemented, "none that is known is served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindOperators, tt.operators), observation(t, kindPhases, tt.pods)}
			if tt.answers != nil {
				obs = append(obs, observation(t, kindRequest, tt.answers))
			}
			j := (&Check{}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, obs := range [][]check.Observation{nil, {observation(t, kindPhases, pods())}, {observation(t, kindOperators, operators(""))}} {
		if j := (&Check{}).Judge(obs); j.Verdict != check.Unobserved {
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

func TestLeadsTo(t *testing.T) {
	t.Parallel()
	of := []phasePod{{Namespace: "llm", labels: map[string]string{"app": "vllm", "llm-d.ai/role": decode}}}
	for name, tt := range map[string]struct {
		selector  map[string]string
		namespace string
		want      bool
	}{
		"to a phase":         {map[string]string{"app": "vllm"}, "llm", true},
		"to others":          {map[string]string{"app": "frontend"}, "llm", false},
		"elsewhere":          {map[string]string{"app": "vllm"}, "other", false},
		"without a selector": {nil, "llm", false},
	} {
		if got := leadsTo(tt.selector, tt.namespace, of); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	k, err := load()
	if err != nil || len(k.Kinds) == 0 || len(k.Phases) == 0 {
		t.Fatal(k, err)
	}
	for _, kind := range k.Kinds {
		if kind.Group == "" || kind.Resource == "" || kind.Ready == "" || kind.What == "" || !strings.HasPrefix(kind.Source, "https://") {
			t.Errorf("%+v", kind)
		}
	}
	for _, p := range k.Phases {
		if p.Label == "" || !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("%+v", p)
		}
	}
}
