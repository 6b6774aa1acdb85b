package workload

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Volcano compares a group's minResources with the resources of nodes: a group of claims that named
// nvidia.com/gpu there stayed Pending, since no node of a cluster without the device plugin has any.
func TestAVolcanoGroupHasNoMinimumOfClaimedGPUs(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]any{"": "16", "gpu.nvidia.com": nil} {
		m, err := Render("space", "run", Volcano{Queue: volcanoQueue}, Spec{Name: "gang", Pods: 2, GPUs: 8, DeviceClass: class, Image: "image", Command: []string{"true"}})
		if err != nil || len(m.Groups) != 1 {
			t.Fatal(m.Groups, err)
		}
		got, _, err := unstructured.NestedFieldNoCopy(m.Groups[0].Object, "spec", "minResources")
		if err != nil {
			t.Fatal(err)
		}
		least, _ := got.(map[string]any)
		if least["nvidia.com/gpu"] != want {
			t.Errorf("class %q: minResources %v, want %v of nvidia.com/gpu", class, got, want)
		}
	}
}
