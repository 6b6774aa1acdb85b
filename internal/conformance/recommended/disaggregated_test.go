package recommended

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func operatorsOf(version string, objects ...inferenceObject) []inferenceOperator {
	return []inferenceOperator{{What: "NVIDIA Dynamo", Kind: "dynamographdeployments.nvidia.com", Version: version, Objects: objects}}
}

func phasePods(phases ...string) []phasePod {
	out := []phasePod{}
	for _, p := range phases {
		phase, state, _ := strings.Cut(p, " ")
		out = append(out, phasePod{Namespace: "llm", Pod: phase, Phase: phase, Ready: state == ""})
	}
	return out
}

func TestJudgeDisaggregated(t *testing.T) {
	t.Parallel()
	runs := inferenceObject{Name: "llm/qwen", Ready: true}
	done := []ModelAnswer{{Service: "llm/a:80", Err: "HTTP status 404"}, {Service: "llm/frontend:8000", Models: []string{"Qwen/Qwen3-0.6B"}, Done: true}}
	elsewhere := phasePods(prefill, decode)
	elsewhere[1].Namespace = "other"
	for name, tt := range map[string]struct {
		operators []inferenceOperator
		pods      []phasePod
		answers   []ModelAnswer
		want      submission.Status
		says      string
	}{
		"runs, and answers":           {operatorsOf("v1alpha1", runs), phasePods(prefill, decode, decode), done, submission.Implemented, "1 prefill and 2 decode instances are ready in llm"},
		"without an operator":         {operatorsOf(""), phasePods(prefill, decode), done, submission.Implemented, "answered through llm/frontend:8000"},
		"no answer":                   {operatorsOf("v1alpha1", runs), phasePods(prefill, decode), done[:1], submission.PartiallyImplemented, "all failed: llm/a:80: HTTP status 404"},
		"no Service":                  {operatorsOf("v1alpha1", runs), phasePods(prefill, decode), []ModelAnswer{}, submission.PartiallyImplemented, "has no Service"},
		"not asked":                   {operatorsOf("v1alpha1", runs), phasePods(prefill, decode), nil, "", "was not observed"},
		"its object is not ready":     {operatorsOf("v1alpha1", inferenceObject{Name: "llm/qwen"}), phasePods(prefill, decode), done, submission.PartiallyImplemented, "none of their objects is ready: dynamographdeployments.nvidia.com llm/qwen"},
		"one of two objects is":       {operatorsOf("v1alpha1", inferenceObject{Name: "llm/b"}, runs), phasePods(prefill, decode), done, submission.Implemented, "2 objects"},
		"decode alone":                {operatorsOf("v1alpha1", runs), phasePods(decode), nil, submission.PartiallyImplemented, "prefill 0 of 0 ready, decode 1 of 1 ready"},
		"prefill is not ready":        {operatorsOf("v1alpha1", runs), phasePods("prefill x", decode), nil, submission.PartiallyImplemented, "prefill 0 of 1 ready"},
		"in two namespaces":           {operatorsOf("v1alpha1", runs), elsewhere, nil, submission.PartiallyImplemented, "no namespace has ready pods of both"},
		"an operator that runs none":  {operatorsOf("v1alpha1"), phasePods(), nil, submission.PartiallyImplemented, "no disaggregated inference runs"},
		"a phase without an operator": {operatorsOf(""), phasePods("prefill x"), nil, submission.NotImplemented, "looked for dynamographdeployments.nvidia.com"},
		"nothing":                     {operatorsOf(""), phasePods(), nil, submission.NotImplemented, "no known operator is served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := []check.Observation{observation(t, kindOperators, tt.operators), observation(t, kindPhases, tt.pods)}
			if tt.answers != nil {
				obs = append(obs, observation(t, kindRequest, tt.answers))
			}
			j := (&Disaggregated{}).Judge(obs)
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
	for _, obs := range [][]check.Observation{nil, {observation(t, kindPhases, phasePods())}, {observation(t, kindOperators, operatorsOf(""))}} {
		if j := (&Disaggregated{}).Judge(obs); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	}
}

func TestSelectsPhase(t *testing.T) {
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
		if got := selectsPhase(tt.selector, tt.namespace, of); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSolutions(t *testing.T) {
	t.Parallel()
	k, err := loadSolutions()
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
