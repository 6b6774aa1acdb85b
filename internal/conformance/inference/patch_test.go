package inference

import "testing"

func TestServersHaveThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	c := aCheck()
	c.deps.PodPatches = []map[string]any{{"spec": map[string]any{"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}}}}
	pod, err := (&trial{Check: c, namespace: "n"}).patchedPod("model-a", placement{})
	if err != nil || len(pod.Spec.Tolerations) != 2 || pod.Name != "model-a" {
		t.Errorf("%+v, %v", pod, err)
	}
}
