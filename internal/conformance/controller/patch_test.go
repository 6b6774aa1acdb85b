package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestThePodOfAnOperatorHasThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	o, err := ParseOperator([]byte(trainerFile(t)))
	if err != nil {
		t.Fatal(err)
	}
	v := values{Name: "x", Namespace: "y", Nodes: []string{"gpu-01"}, Patches: []map[string]any{{"spec": map[string]any{
		"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}, "imagePullSecrets": []any{map[string]any{"name": "registry"}},
	}}}}
	for _, template := range []string{o.Setup, o.Valid} { // the latter has no pod
		obj, err := o.render(template, v, variant{})
		if err != nil {
			t.Fatal(err)
		}
		_ = obj.DeepCopy() // its types are those of API objects
		if template == o.Valid {
			continue
		}
		jobs, _, err := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "replicatedJobs")
		if err != nil || len(jobs) != 1 {
			t.Fatal(jobs, err)
		}
		pod, _, err := unstructured.NestedMap(jobs[0].(map[string]any), "template", "spec", "template", "spec")
		if err != nil {
			t.Fatal(err)
		}
		terms, _, err := unstructured.NestedSlice(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if err != nil || len(terms) != 1 || terms[0].(map[string]any)["matchFields"] == nil { // a label may differ from the name
			t.Errorf("%v, %v", terms, err)
		}
		tolerations, secrets := pod["tolerations"].([]any), pod["imagePullSecrets"].([]any)
		if len(tolerations) != 2 || tolerations[1].(map[string]any)["key"] != "sku" || len(secrets) != 1 {
			t.Errorf("%v", pod)
		}
	}
	v.Patches = []map[string]any{{"spec": map[string]any{"restartPolicy": "Always"}}}
	if _, err := o.render(o.Setup, v, variant{}); err == nil {
		t.Error("a patch changes what the operator's file sets")
	}
}
