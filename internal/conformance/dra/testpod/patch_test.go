package testpod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A pool with another taint than nvidia.com/gpu takes the pods of checks, too, as it takes those of gates.
func TestPodsHaveThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	r := Runner{Cluster: &kube.Cluster{Client: fake.NewClientset()}, RunID: "r", Namespace: "firstlight-r-dra", Patches: []map[string]any{{"spec": map[string]any{
		"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}, "imagePullSecrets": []any{map[string]any{"name": "registry"}},
	}}}}
	if err := r.Start(t.Context(), Spec{Name: "a", Check: "dra", Image: "i", Containers: []Container{{Name: "c", Script: Sleep}}}); err != nil {
		t.Fatal(err)
	}
	pod, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := pod.Spec.Tolerations; len(got) != 2 || got[0].Key != kube.GPUResource || got[1].Key != "sku" || len(pod.Spec.ImagePullSecrets) != 1 || pod.Labels[kube.LabelRun] != "r" {
		t.Errorf("%+v", pod)
	}
	r.Patches = []map[string]any{{"spec": map[string]any{"restartPolicy": string(corev1.RestartPolicyAlways)}}}
	if err := r.Start(t.Context(), Spec{Name: "b", Check: "dra", Containers: []Container{{Name: "c"}}}); err == nil {
		t.Error("a patch changes what the check sets")
	}
}
