package lab

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/gpustack"
)

// GPUStack selects and configures the software that manages the GPUs of a lab.
type GPUStack struct {
	Stack component.Stack
	// Cluster is for component.StackReal.
	Cluster gpustack.Cluster
}

func (l *Lab) stack() component.Stack {
	return cmp.Or(l.opts.GPUStack.Stack, component.StackMinimal)
}

// createStack is the step component.StackObjects: it installs the GPU Operator's chart.
func (l *Lab) createStack(ctx context.Context) error {
	values, err := gpustack.Values(l.opts.GPUStack.Cluster)
	if err != nil {
		return err
	}
	chart, err := gpustack.Render(ctx, values)
	if err != nil {
		return err
	}
	if err := represent(chart.Objects); err != nil {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": gpustack.Namespace},
	}}
	if err := create(ctx, client, append(chart.Definitions, namespace)); err != nil {
		return err
	}
	for _, d := range chart.Definitions {
		if err := awaitCondition(ctx, client, d, "Established"); err != nil {
			return err
		}
	}
	return create(ctx, client, chart.Objects)
}

// represent marks the pods of the chart's Deployments as those of the lab's processes, so that they
// are ready while the processes are.
func represent(objects []*unstructured.Unstructured) error {
	left := component.StackDeployments()
	for _, o := range objects {
		process, ok := left[o.GetName()]
		if !ok || o.GetKind() != "Deployment" {
			continue
		}
		if err := unstructured.SetNestedField(o.Object, process, "spec", "template", "metadata", "labels", component.LabelProcess); err != nil {
			return fmt.Errorf("mark Deployment %s: %w", o.GetName(), err)
		}
		delete(left, o.GetName())
	}
	for name := range left {
		return fmt.Errorf("the GPU Operator's chart has no Deployment %s", name)
	}
	return nil
}
