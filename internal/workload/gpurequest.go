package workload

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// gpuClaim is the name of a pod's claim of GPUs, and of the request in the claim.
const gpuClaim = "gpus"

// GPURequest is how the first container of a pod gets its GPUs: by a claim of a DeviceClass, or by an
// extended resource.
type GPURequest struct {
	GPUs int
	// DeviceClass of the claim; empty: Resource is requested.
	DeviceClass string
	// Resource is an extended resource; empty: kube.GPUResource.
	Resource string
	// Template is the name of the claim's ResourceClaimTemplate.
	Template string
}

// claims reports whether the GPUs are claimed.
func (r GPURequest) claims() bool { return r.DeviceClass != "" && r.GPUs > 0 }

// extended is the extended resource of the request; empty without one.
func (r GPURequest) extended() string {
	if r.GPUs < 1 || r.claims() {
		return ""
	}
	return cmp.Or(r.Resource, kube.GPUResource)
}

// Set requests the GPUs for the first container of a pod.
func (r GPURequest) Set(pod *corev1.PodSpec) {
	resources := &pod.Containers[0].Resources
	switch {
	case r.claims():
		pod.ResourceClaims = append(pod.ResourceClaims, corev1.PodResourceClaim{Name: gpuClaim, ResourceClaimTemplateName: new(r.Template)})
		resources.Claims = append(resources.Claims, corev1.ResourceClaim{Name: gpuClaim})
	case r.extended() != "":
		if resources.Limits == nil {
			resources.Limits = corev1.ResourceList{}
		}
		resources.Limits[corev1.ResourceName(r.extended())] = *resource.NewQuantity(int64(r.GPUs), resource.DecimalSI)
	}
}

// ClaimTemplate is the template of the pods' claims, which get the labels, too; nil without claims.
func (r GPURequest) ClaimTemplate(namespace string, labels map[string]string) *resourcev1.ResourceClaimTemplate {
	if !r.claims() {
		return nil
	}
	return &resourcev1.ResourceClaimTemplate{
		TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimTemplate"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Template, Namespace: namespace, Labels: labels},
		Spec: resourcev1.ResourceClaimTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
				Name: gpuClaim, Exactly: &resourcev1.ExactDeviceRequest{
					DeviceClassName: r.DeviceClass, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(r.GPUs),
				},
			}}}},
		},
	}
}
