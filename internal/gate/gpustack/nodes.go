package gpustack

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func (g *Gate) observeNodes(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, KindNodes, "cluster", "GET nodes")
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list nodes: %w", err))
	}
	figures := []nodeFigures{}
	for i := range list.Items {
		n := &list.Items[i]
		n.ManagedFields = nil
		if slices.Contains(g.nodes, n.Name) || kube.Count(n.Status.Capacity, kube.GPUResource) > 0 {
			figures = append(figures, g.readNode(n))
		}
	}
	return attempt.Raw(rawJSON(list)).Record(figures, nil)
}

// pressures are the conditions other than Ready for which the control plane taints a node.
var pressures = []corev1.NodeConditionType{corev1.NodeDiskPressure, corev1.NodeMemoryPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable}

func (g *Gate) readNode(n *corev1.Node) nodeFigures {
	f := nodeFigures{
		Name: n.Name, Ready: kube.Ready(n), Schedulable: !n.Spec.Unschedulable, Resources: map[string]resourceFigures{},
		MIGConfig: n.Labels["nvidia.com/mig.config"], MIGState: n.Labels["nvidia.com/mig.config.state"],
	}
	if !f.Ready {
		f.NotReadyWhy = notReadyWhy(n)
	}
	for _, c := range n.Status.Conditions {
		if slices.Contains(pressures, c.Type) && c.Status != corev1.ConditionFalse {
			if f.Pressures == nil {
				f.Pressures = map[string]string{}
			}
			f.Pressures[string(c.Type)] = fmt.Sprintf("%s, %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	for _, name := range []string{kube.GPUResource, g.network} {
		if name != "" {
			f.Resources[name] = resourceFigures{
				Capacity:    kube.Count(n.Status.Capacity, name),
				Allocatable: kube.Count(n.Status.Allocatable, name),
			}
		}
	}
	return f
}

func notReadyWhy(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Reason + ": " + c.Message
		}
	}
	return "its kubelet has never reported"
}
