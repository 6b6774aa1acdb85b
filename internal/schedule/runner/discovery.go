package runner

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// ownNode is a node of the recipe with its state.
type ownNode struct {
	node scenario.Node
	// written is the object as the API server last returned it.
	nodeVersion *corev1.Node
	round       int
	granted     map[corev1.ResourceName]bool
}

// nextVersion is the node with the labels and resources that its running pods provide; nil
// if the node has them already. Labels and resources are never removed.
func (l *layout) nextVersion(p *objectSet, m *ownNode) *corev1.Node {
	labels := l.discoveredLabels(p, m)
	var grants []scenario.Grant
	for _, g := range m.node.Grants {
		if !m.granted[g.Resource] && l.isServed(p, m, g, labels) {
			grants = append(grants, g)
		}
	}
	if len(labels) == len(m.nodeVersion.Labels) && len(grants) == 0 {
		return nil
	}
	out := m.nodeVersion.DeepCopy()
	labels[labelRound] = strconv.Itoa(m.round + 1)
	out.Labels = labels
	for _, g := range grants {
		q := *resource.NewQuantity(g.Quantity, resource.DecimalSI)
		out.Status.Capacity[g.Resource], out.Status.Allocatable[g.Resource] = q, q
	}
	return out
}

// discoveredLabels are the node's labels with those that its pods discover and components
// publish.
func (l *layout) discoveredLabels(p *objectSet, m *ownNode) map[string]string {
	labels := maps.Clone(m.nodeVersion.Labels)
	for i, grew := 0, true; grew; i++ {
		grew = false
		workloads := l.components
		for _, c := range l.scenario.Components {
			for range c.Workloads {
				w := workloads[0]
				workloads = workloads[1:]
				if i == 0 && w.spec.Discovers && len(m.node.Discovered[c.Name]) > 0 && p.runsOn(w.key, m.nodeVersion.Name) {
					grew = scenario.AddMissing(labels, m.node.Discovered[c.Name]) || grew
				}
			}
			for _, pub := range c.Publishes {
				if scenario.Has(labels, pub.OnNodesWith) {
					grew = scenario.AddMissing(labels, pub.Labels) || grew
				}
			}
		}
	}
	return labels
}

// isServed reports whether all the component's DaemonSets for GPU nodes that must run on
// the node do so, including one that provides the resource.
func (l *layout) isServed(p *objectSet, m *ownNode, g scenario.Grant, labels map[string]string) bool {
	brought := false
	for _, w := range l.components {
		if w.component != g.Component || w.spec.Kind != daemonSet || w.spec.Class != footprint.Accelerated {
			continue
		}
		if p.runsOn(w.key, m.nodeVersion.Name) {
			brought = brought || slices.Contains(w.spec.Brings, string(g.Resource))
			continue
		}
		if scenario.Wants(w.spec, m.node, labels) {
			return false
		}
	}
	return brought
}
