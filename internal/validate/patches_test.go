package validate

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/pipeline"
)

// Every check that creates pods has the tolerations of the site's workloads.pod, and no more: the namespaces of the checks have no
// service account of the site, and refuse the network of the host.
func TestChecksHaveThePodPatchesOfTheSite(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	s.Workloads.Pod = map[string]any{"spec": map[string]any{"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}, "serviceAccountName": "site", "hostNetwork": true}}
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
			if fmt.Sprint(patches) != "[map[spec:map[tolerations:[map[key:sku value:gpu]]]]]" {
				t.Errorf("%s has the patches %v", step.Check.Name(), patches)
			}
		}
	}
	if want := len(requirements); patched < want { // and the snapshot
		t.Errorf("%d checks have patches, want %d", patched, want)
	}
}
