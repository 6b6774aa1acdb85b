package validate

import (
	"reflect"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// Every check that creates pods has the patches of the site's workloads.pod.
func TestChecksHaveThePodPatchesOfTheSite(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	s.Workloads.Pod = map[string]any{"spec": map[string]any{"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}}}
	made, err := caseFor(t, pipeline.Training, 32).Plan(s, p, conformance.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	patched := 0
	for _, step := range made.Steps {
		deps := reflect.Indirect(reflect.ValueOf(step.Check)).FieldByName("deps")
		if !deps.IsValid() {
			continue
		}
		if patches := deps.FieldByName("PodPatches"); patches.IsValid() {
			patched++
			if patches.Len() != 1 {
				t.Errorf("%s has %d patches", step.Check.Name(), patches.Len())
			}
		}
	}
	if want := len(requirements); patched < want { // and the snapshot
		t.Errorf("%d checks have patches, want %d", patched, want)
	}
}
