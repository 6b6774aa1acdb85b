package judge

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Texts of the scheduler's reasons other than insufficient resources.
const (
	textPods            = "Too many pods"
	textPorts           = "free ports"
	textAntiAffinity    = "anti-affinity rules"
	textSpread          = "topology spread constraints"
	textNoTopologyLabel = "missing required label"
)

// shortage lists the requested and largest available quantity of each missing resource.
func (v *view) shortage(e expected, r Refusal) string {
	var parts []string
	for _, name := range r.Insufficient() {
		asked, ok := e.workload.Pod.Requests[corev1.ResourceName(name)]
		if !ok {
			continue
		}
		most := asked.DeepCopy()
		most.Set(0)
		for _, node := range e.Nodes {
			if n := v.nodes[node]; n != nil {
				if q := n.Allocatable[corev1.ResourceName(name)]; q.Cmp(most) > 0 {
					most = q
				}
			}
		}
		parts = append(parts, fmt.Sprintf("a pod requests %s %s, the largest node has %s", asked.String(), name, most.String()))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// capacityRemedy is the remedy for nodes that lack capacity for the pods.
func (v *view) capacityRemedy(e expected, r Refusal) string {
	profile := v.shapeOf(e.Class)
	switch {
	case len(r.Insufficient()) > 0 && e.Component == snapshot.OwnerProbe:
		return fmt.Sprintf("correct extendedResources of the profile %s: the request of one pod must fit", profile)
	case len(r.Insufficient()) > 0:
		return fmt.Sprintf("lower the requests in the values of %s, or test on a larger node (profile %s)", e.Component, profile)
	case r.NodesWith(textPods) > 0:
		return fmt.Sprintf("raise resources.pods of the profile %s if its nodes accept more, or its count", profile)
	case r.NodesWith(textPorts) > 0:
		return v.hostPortRemedy(e)
	case r.NodesWith(textAntiAffinity) > 0:
		return fmt.Sprintf("run at most one replica per node (%d), or test on more nodes (count of the profile %s)", len(e.Nodes), profile)
	case r.NodesWith(textNoTopologyLabel) > 0:
		return fmt.Sprintf("add the topology label (zone or other) to the nodes of the profile %s", profile)
	case r.NodesWith(textSpread) > 0:
		return fmt.Sprintf("relax its topologySpreadConstraints, or spread the nodes of the profile %s over more zones", profile)
	default:
		return "correct the cause that the scheduler reports: " + v.setRemedy(e, "node selector")
	}
}

// hostPortRemedy names the workload with the same host port.
func (v *view) hostPortRemedy(e expected) string {
	for _, o := range v.expected {
		if o.id() == e.id() {
			continue
		}
		for _, port := range o.workload.Pod.HostPorts {
			if slices.Contains(e.workload.Pod.HostPorts, port) {
				return fmt.Sprintf("use another port for it or %s: both request host port %d", o.id(), port)
			}
		}
	}
	return "run one pod of it per node: they request the same host port"
}
