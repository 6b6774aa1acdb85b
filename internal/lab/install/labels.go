package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const gpuResource corev1.ResourceName = "nvidia.com/gpu"

// Nodes adds labels to a lab's nodes: system to nodes without GPUs, accelerated to the others.
// Existing labels are kept.
func Nodes(ctx context.Context, client kubernetes.Interface, system, accelerated map[string]string) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the lab's nodes: %w", err)
	}
	var problems []error
	for _, n := range nodes.Items {
		want := system
		if _, ok := n.Status.Capacity[gpuResource]; ok {
			want = accelerated
		}
		missing := maps.Clone(want)
		maps.DeleteFunc(missing, func(key, _ string) bool { _, has := n.Labels[key]; return has })
		if len(missing) == 0 {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": missing}})
		if err != nil {
			return fmt.Errorf("encode the labels of node %s: %w", n.Name, err)
		}
		if _, err := client.CoreV1().Nodes().Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			problems = append(problems, fmt.Errorf("label node %s: %w", n.Name, err))
		}
	}
	return errors.Join(problems...)
}
