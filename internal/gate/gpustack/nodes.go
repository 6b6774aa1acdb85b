package gpustack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
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
		if slices.Contains(g.nodes, n.Name) || offersGPUs(n) {
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
		MIGStrategy: n.Labels["nvidia.com/mig.strategy"], Divisions: kube.Divisions(n), DriverUpgrade: n.Labels[labelUpgrade],
		Reported: reported(n),
	}
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule {
			f.Taints = append(f.Taints, t)
		}
	}
	if !f.Ready {
		f.NotReadyWhy = kube.NotReadyWhy(n)
	}
	f.Provider = g.readProvider(n)
	for _, c := range n.Status.Conditions {
		if slices.Contains(pressures, c.Type) && c.Status != corev1.ConditionFalse {
			if f.Pressures == nil {
				f.Pressures = map[string]string{}
			}
			f.Pressures[string(c.Type)] = fmt.Sprintf("%s, %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	names := append(slices.Collect(maps.Keys(g.resources)), kube.GPUResource, g.network)
	for name := range n.Status.Capacity {
		if partsOfGPUs(string(name)) {
			names = append(names, string(name))
		}
	}
	for _, name := range names {
		if name != "" {
			f.Resources[name] = resourceFigures{
				Capacity:    kube.Count(n.Status.Capacity, name),
				Allocatable: kube.Count(n.Status.Allocatable, name),
			}
		}
	}
	return f
}

// partsOfGPUs reports whether a resource is MIG devices, or GPUs that pods share (renameByDefault of time slicing and MPS).
func partsOfGPUs(resource string) bool {
	return strings.HasPrefix(resource, site.MIGResource) || resource == kube.GPUResource+".shared"
}

// offersGPUs reports whether a node has GPUs or parts of GPUs.
func offersGPUs(n *corev1.Node) bool {
	for name := range n.Status.Capacity {
		if (name == kube.GPUResource || partsOfGPUs(string(name))) && kube.Count(n.Status.Capacity, string(name)) > 0 {
			return true
		}
	}
	return false
}
