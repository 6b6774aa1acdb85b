package render

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	// claimEntry names the claim in a pod, and the request in the claim.
	claimEntry = "gpu"
	// claimPrefix of a template's name; the number of GPUs follows.
	claimPrefix = "gpus-"
)

// request requests GPUs for the pod's container.
func (v Values) request(pod *corev1.PodSpec, gpus int) {
	resources := &pod.Containers[0].Resources
	switch {
	case gpus < 1:
	case v.DeviceClass == "":
		resources.Limits = corev1.ResourceList{kube.GPUResource: *resource.NewQuantity(int64(gpus), resource.DecimalSI)}
	default:
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: claimEntry, ResourceClaimTemplateName: new(claimPrefix + strconv.Itoa(gpus))}}
		resources.Claims = []corev1.ResourceClaim{{Name: claimEntry}}
	}
}

// ClaimTemplates are those of the run's pods, one for each number of GPUs; none without a DeviceClass.
func ClaimTemplates(v Values) []*resourcev1.ResourceClaimTemplate {
	if v.DeviceClass == "" {
		return nil
	}
	var out []*resourcev1.ResourceClaimTemplate
	template := func(gpus int) {
		labels := v.labels("")
		out = append(out, &resourcev1.ResourceClaimTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: claimPrefix + strconv.Itoa(gpus), Namespace: v.Namespace, Labels: labels},
			Spec: resourcev1.ResourceClaimTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
					Name: claimEntry, Exactly: &resourcev1.ExactDeviceRequest{
						DeviceClassName: v.DeviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(gpus),
					},
				}}}},
			},
		})
	}
	template(1) // of the holder and the load
	if v.GPUs > 1 {
		template(v.GPUs)
	}
	return out
}

// ClaimedGPUs is the number of GPUs of a pod's claims of the run.
func ClaimedGPUs(pod *corev1.PodSpec) int {
	total := 0
	for _, c := range pod.ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		if text, ok := strings.CutPrefix(*c.ResourceClaimTemplateName, claimPrefix); ok {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				total += n
			}
		}
	}
	return total
}
