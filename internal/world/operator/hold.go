package operator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// holdAnnotation keeps a KWOK pod from being ready.
const holdAnnotation = "firstlight.dev/world-hold"

func everything() labels.Selector { return labels.Everything() }

// hold annotates operand pods that are not ready in the world and releases the others.
func (o *Operator) hold(ctx context.Context) error {
	wanted := map[string]string{} // operand by node
	for _, n := range o.config.World.State().GPUNodes() {
		if n.OperandNotReady != "" {
			wanted[n.Name] = n.OperandNotReady
		}
	}
	pods, err := o.pods.List(everything())
	if err != nil {
		return fmt.Errorf("list operand pods: %w", err)
	}
	var errs []error
	for _, p := range pods {
		operand := p.Labels["app"]
		want := operand != "" && p.Spec.NodeName != "" && wanted[p.Spec.NodeName] == operand
		if _, held := p.Annotations[holdAnnotation]; held == want {
			continue
		}
		errs = append(errs, o.annotate(ctx, p, want))
	}
	return errors.Join(errs...)
}

func (o *Operator) annotate(ctx context.Context, p *corev1.Pod, held bool) error {
	value := "null"
	if held {
		value = `"ready"`
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, holdAnnotation, value)
	_, err := o.config.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("hold pod %s: %w", p.Name, err)
	}
	return nil
}
