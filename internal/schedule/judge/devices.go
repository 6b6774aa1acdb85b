package judge

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// extended reports whether a resource is an extended resource.
func extended(name corev1.ResourceName) bool {
	domain, _, ok := strings.Cut(string(name), "/")
	return ok && domain != "kubernetes.io"
}

// offers reports whether a node has any of a resource.
func offers(n *snapshot.Node, name corev1.ResourceName) bool {
	if n == nil {
		return false
	}
	q := n.Allocatable[name]
	return q.Sign() > 0
}

// devices lists the extended resources that a pod requests, in order.
func devices(p footprint.Pod) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(p.Requests)) {
		if q := p.Requests[name]; extended(name) && q.Sign() > 0 {
			out = append(out, name)
		}
	}
	return out
}

// neverOffers lists the requested devices that a node cannot have, whatever runs there.
func (p *plan) neverOffers(n scenario.Node, pod footprint.Pod) []corev1.ResourceName {
	return slices.DeleteFunc(devices(pod), func(name corev1.ResourceName) bool {
		q := n.Allocatable[name]
		return q.Sign() > 0 || slices.ContainsFunc(n.Grants, func(g scenario.Grant) bool { return g.Resource == name && p.isProvided(g) })
	})
}

// isProvided reports whether a DaemonSet of the recipe provides a device.
func (p *plan) isProvided(g scenario.Grant) bool {
	for _, c := range p.scenario.Components {
		if c.Name == g.Component {
			return slices.ContainsFunc(c.Workloads, func(w footprint.Workload) bool {
				return w.Kind == scenario.DaemonSet && slices.Contains(w.Brings, string(g.Resource))
			})
		}
	}
	return false
}
