package toolpod

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// pod is a container that has a program.
type pod struct{ namespace, name, container, image string }

// String is the origin of the outputs.
func (p pod) String() string {
	return fmt.Sprintf("pod %s/%s, container %s, image %s", p.namespace, p.name, p.container, p.image)
}

// findPod returns the running container of a tool on a node.
func (h *Hosts) findPod(ctx context.Context, node string, t tool) (*pod, error) {
	if h.cluster == nil {
		return nil, errNoCluster
	}
	cluster, err := h.cluster(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach the cluster for the GPU Operator's pods: %w", err)
	}
	waiting := ""
	for _, label := range t.Labels {
		list, err := cluster.Client.CoreV1().Pods(h.namespace).List(ctx, metav1.ListOptions{
			LabelSelector: label, FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String(),
		})
		if err != nil {
			return nil, fmt.Errorf("list pods of %s with label %s: %w", h.namespace, label, err)
		}
		for i := range list.Items {
			p := &list.Items[i]
			if c, ok := running(p, t.Container); ok {
				return &pod{namespace: p.Namespace, name: p.Name, container: t.Container, image: c.Image}, nil
			}
			waiting = fmt.Sprintf(" (container %s of pod %s does not run)", t.Container, p.Name)
		}
	}
	return nil, fmt.Errorf("namespace %s has no running pod with label %s on the node%s: %s", h.namespace, strings.Join(t.Labels, " or "), waiting, t.Remedy)
}

// running returns the status of a container that runs.
func running(p *corev1.Pod, container string) (corev1.ContainerStatus, bool) {
	i := slices.IndexFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container })
	if i < 0 || p.DeletionTimestamp != nil || p.Status.ContainerStatuses[i].State.Running == nil {
		return corev1.ContainerStatus{}, false
	}
	return p.Status.ContainerStatuses[i], true
}
