package policy

import (
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every policy selects objects of runs only, and its sample is one. A lab's API server compiles
// the expressions.
func TestPolicies(t *testing.T) {
	t.Parallel()
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 7 {
		t.Errorf("%d policies, want 7", len(all))
	}
	for name, p := range all {
		if p.Spec.MatchConstraints == nil || p.Spec.MatchConstraints.ObjectSelector == nil {
			t.Errorf("%s matches everything", name)
			continue
		}
		ofRuns := false
		for _, e := range p.Spec.MatchConstraints.ObjectSelector.MatchExpressions {
			ofRuns = ofRuns || e.Key == run && e.Operator == "Exists"
		}
		if !ofRuns || p.sample().GetLabels()[run] == "" {
			t.Errorf("%s does not select objects of runs only, or not its sample", name)
		}
		if v, ok := at(p.Sample, p.Shows); !ok || v == nil {
			t.Errorf("%s: the sample has nothing at %v", name, p.Shows)
		}
		for _, m := range p.Spec.Mutations {
			if m.PatchType != admissionv1.PatchTypeJSONPatch || !strings.Contains(m.JSONPatch.Expression, "JSONPatch{") {
				t.Errorf("%s: mutation %+v", name, m)
			}
		}
		object, binding := p.objects(name)
		if binding.Spec.PolicyName != object.Name || object.Labels[labelFault] != name || len(object.Spec.Mutations) == 0 {
			t.Errorf("%s: objects %+v %+v", name, object, binding)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	p := policy{
		Sample: map[string]any{"spec": map[string]any{"tolerations": []any{map[string]any{"key": "gpu"}}}},
		Shows:  []any{"spec", "tolerations", float64(0), "key"},
	}
	answer := func(tolerations ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"tolerations": tolerations}}}
	}
	for name, tt := range map[string]struct {
		answer *unstructured.Unstructured
		want   bool
	}{
		"as sent":        {answer(map[string]any{"key": "gpu"}), false},
		"and more":       {answer(map[string]any{"key": "gpu"}, map[string]any{"key": "late"}), false},
		"another":        {answer(map[string]any{"key": "late"}), true},
		"without a key":  {answer(map[string]any{"operator": "Exists"}), true},
		"none":           {answer(), true},
		"no list at all": {&unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}, true},
		"no object":      {&unstructured.Unstructured{Object: map[string]any{"spec": "text"}}, true},
	} {
		if got := p.changed(tt.answer); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestUnknownPolicy(t *testing.T) {
	t.Parallel()
	e, err := New(&rest.Config{Host: "https://127.0.0.1:1"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Set(t.Context(), []Wanted{{Name: "pool-limit-zero"}, {Name: "hpa-max"}}); err == nil || !strings.Contains(err.Error(), "hpa-max-reached") {
		t.Errorf("error %v does not list the valid names", err)
	}
	if len(e.applied) != 0 {
		t.Error("the known policy was applied")
	}
	if all, err := load(); err != nil || len(all) != 7 {
		t.Errorf("policies are %v, %v", all, err)
	}
}
