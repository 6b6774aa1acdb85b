package render

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Every pod of a run with a DeviceClass has its GPUs by a claim of a template of the run, and none
// of the device plugin's resource; the count of GPUs is that of the pods without a class.
func TestClaims(t *testing.T) {
	t.Parallel()
	plugin := values()
	plugin.Stay, plugin.GPUs = true, 2
	claiming := plugin
	claiming.DeviceClass = "gpu.nvidia.com"
	pods := func(v Values) []corev1.PodSpec {
		return []corev1.PodSpec{Deployment(v).Spec.Template.Spec, HolderJob(v).Spec.Template.Spec, LoadJob(v).Spec.Template.Spec}
	}
	templates := map[string]int64{}
	for _, c := range ClaimTemplates(claiming) {
		request := c.Spec.Spec.Devices.Requests[0].Exactly
		templates[c.Name] = request.Count
		if request.DeviceClassName != claiming.DeviceClass || c.Labels[kube.LabelRun] != "r1" || c.Spec.Labels[kube.LabelRun] != "r1" {
			t.Errorf("template %s: class %s, labels %v and %v", c.Name, request.DeviceClassName, c.Labels, c.Spec.Labels)
		}
	}
	if len(templates) != 2 || len(ClaimTemplates(plugin)) != 0 {
		t.Errorf("templates %v; without a class %v", templates, ClaimTemplates(plugin))
	}
	for i, pod := range pods(claiming) {
		want := kube.PodRequest(&pods(plugin)[i], kube.GPUResource)
		if got := ClaimedGPUs(&pod); got != want || got < 1 || kube.PodRequest(&pod, kube.GPUResource) != 0 {
			t.Errorf("pod %d claims %d GPUs, want %d", i, got, want)
		}
		if n := templates[*pod.ResourceClaims[0].ResourceClaimTemplateName]; n != int64(want) || pod.Containers[0].Resources.Claims[0].Name != pod.ResourceClaims[0].Name {
			t.Errorf("pod %d: the template has %d GPUs, want %d: %+v", i, n, want, pod.ResourceClaims)
		}
	}
	other := "team-gpu"
	if n := ClaimedGPUs(&corev1.PodSpec{ResourceClaims: []corev1.PodResourceClaim{{Name: "a", ResourceClaimTemplateName: &other}, {Name: "b"}}}); n != 0 {
		t.Errorf("claims of others count as %d", n)
	}
}
