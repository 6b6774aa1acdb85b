package operator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// deployment is the operator's own. Its pod does nothing: the world computes the status.
const deployment = "gpu-operator"

// scale removes the operator's pod while the operator is down.
func (o *Operator) scale(ctx context.Context, down bool) error {
	api := o.config.Client.AppsV1().Deployments(Namespace)
	d, err := api.Get(ctx, deployment, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get the operator's Deployment: %w", err)
	}
	want := replicas(down)
	if d.Spec.Replicas != nil && *d.Spec.Replicas == want {
		return nil
	}
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, want)
	if _, err := api.Patch(ctx, deployment, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("scale the operator's Deployment: %w", err)
	}
	return nil
}

func replicas(down bool) int32 {
	if down {
		return 0
	}
	return 1
}

// scaled returns nil when the operator's pod runs, or is gone.
func (o *Operator) scaled(ctx context.Context, down bool) error {
	d, err := o.config.Client.AppsV1().Deployments(Namespace).Get(ctx, deployment, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get the operator's Deployment: %w", err)
	}
	if want := replicas(down); d.Status.ObservedGeneration < d.Generation || d.Status.ReadyReplicas != want || d.Status.Replicas != want {
		return fmt.Errorf("the operator has %d ready pods, not yet %d", d.Status.ReadyReplicas, want)
	}
	return nil
}
