package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestPodRequestEffective(t *testing.T) {
	t.Parallel()
	requests := func(name, value string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(value)}}
	}
	limits := corev1.ResourceRequirements{Limits: corev1.ResourceList{GPUResource: resource.MustParse("3")}}
	podLevel := requests("cpu", "6")
	for name, tt := range map[string]struct {
		spec     corev1.PodSpec
		resource string
		want     int
	}{
		"pod-level request above the containers'": {corev1.PodSpec{Resources: &podLevel, Containers: []corev1.Container{{Resources: requests("cpu", "2")}}}, "cpu", 6},
		"overhead": {corev1.PodSpec{
			Overhead: corev1.ResourceList{"cpu": resource.MustParse("1")}, Containers: []corev1.Container{{Resources: requests("cpu", "2")}},
		}, "cpu", 3},
		"init container after a sidecar": {corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Resources: requests(GPUResource, "1"), RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Resources: requests(GPUResource, "4")},
			},
			Containers: []corev1.Container{{Resources: requests(GPUResource, "2")}},
		}, GPUResource, 5},
		"limit without a request": {corev1.PodSpec{Containers: []corev1.Container{{Resources: limits}}}, GPUResource, 3},
	} {
		if got := PodRequest(&tt.spec, tt.resource); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
