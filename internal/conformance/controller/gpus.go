package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// gpuClaim is the name of a pod's claim, and of its template.
const gpuClaim = "firstlight-gpu"

// gpuValues are the values of a pod's resources and resourceClaims with one GPU: by a claim of the
// class, or, where that is empty, as the device plugin's resource.
func gpuValues(class string) (resources map[string]any, claims []map[string]string) {
	if class == "" {
		return map[string]any{"limits": map[string]int{kube.GPUResource: 1}}, []map[string]string{}
	}
	return map[string]any{"claims": []map[string]string{{"name": gpuClaim}}},
		[]map[string]string{{"name": gpuClaim, "resourceClaimTemplateName": gpuClaim}}
}

// createClaimTemplate creates the template of the pods' claims; one that exists is of an earlier
// attempt of this run. It does nothing where the device plugin offers the GPUs.
func (w *observation) createClaimTemplate(ctx context.Context) error {
	if w.class == "" {
		return nil
	}
	template := testpod.Spec{Name: gpuClaim, Check: Name, Claim: &testpod.Claim{Class: w.class}}.Template(w.deps.RunID, w.namespace)
	_, err := w.cluster.Client.ResourceV1().ResourceClaimTemplates(w.namespace).Create(ctx, template, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create resource claim template %s: %w", gpuClaim, err)
	}
	return nil
}

func (w *observation) deleteClaimTemplate(ctx context.Context) error {
	if w.class == "" {
		return nil
	}
	err := w.cluster.Client.ResourceV1().ResourceClaimTemplates(w.namespace).Delete(ctx, gpuClaim, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete resource claim template %s: %w", gpuClaim, err)
	}
	return nil
}
