package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// gpuTemplate is the name of the template of the pods' claims.
const gpuTemplate = "firstlight-gpu"

// gpuRequest is the request of a pod for its GPU.
func gpuRequest(class string) workload.GPURequest {
	return workload.GPURequest{GPUs: 1, DeviceClass: class, Template: gpuTemplate}
}

// gpuValues are the values of a pod's resources and resourceClaims with one GPU.
func gpuValues(class string) (corev1.ResourceRequirements, []corev1.PodResourceClaim) {
	pod := corev1.PodSpec{Containers: make([]corev1.Container, 1), ResourceClaims: []corev1.PodResourceClaim{}}
	gpuRequest(class).Set(&pod)
	return pod.Containers[0].Resources, pod.ResourceClaims
}

// createClaimTemplate creates the template of the pods' claims; one that exists is of an earlier
// attempt of this run. It does nothing where the device plugin offers the GPUs.
func (w *observation) createClaimTemplate(ctx context.Context) error {
	if w.class == "" {
		return nil
	}
	template := gpuRequest(w.class).ClaimTemplate(w.namespace, kube.Labels(w.deps.RunID, Name))
	_, err := w.cluster.DRA().ResourceClaimTemplates(w.namespace).Create(ctx, template, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create resource claim template %s: %w", gpuTemplate, err)
	}
	return nil
}

func (w *observation) deleteClaimTemplate(ctx context.Context) error {
	if w.class == "" {
		return nil
	}
	err := w.cluster.DRA().ResourceClaimTemplates(w.namespace).Delete(ctx, gpuTemplate, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete resource claim template %s: %w", gpuTemplate, err)
	}
	return nil
}
