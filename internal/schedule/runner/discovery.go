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

// machine is a node of the recipe's own, and what became of it so far.
type machine struct {
	node scenario.Node
	// written is the object as the API server last returned it.
	written *corev1.Node
	turn    int
	granted map[corev1.ResourceName]bool
}

// due is the node as it has to become now, by what runs on it; nil where it is so
// already. Labels that are there stay, and resources are not taken back.
func (l *layout) due(p *picture, m *machine) *corev1.Node {
	labels := l.found(p, m)
	var grants []scenario.Grant
	for _, g := range m.node.Grants {
		if !m.granted[g.Resource] && l.served(p, m, g, labels) {
			grants = append(grants, g)
		}
	}
	if len(labels) == len(m.written.Labels) && len(grants) == 0 {
		return nil
	}
	out := m.written.DeepCopy()
	labels[labelTurn] = strconv.Itoa(m.turn + 1)
	out.Labels = labels
	for _, g := range grants {
		q := *resource.NewQuantity(g.Quantity, resource.DecimalSI)
		out.Status.Capacity[g.Resource], out.Status.Allocatable[g.Resource] = q, q
	}
	return out
}

// found are the node's labels with those that its pods find and components publish.
func (l *layout) found(p *picture, m *machine) map[string]string {
	labels := maps.Clone(m.written.Labels)
	for i, grew := 0, true; grew; i++ {
		grew = false
		works := l.components
		for _, c := range l.scenario.Components {
			for range c.Workloads {
				w := works[0]
				works = works[1:]
				if i == 0 && w.spec.Discovers && len(m.node.Discovered[c.Name]) > 0 && p.runsOn(w.of, m.written.Name) {
					grew = addMissing(labels, m.node.Discovered[c.Name]) || grew
				}
			}
			for _, pub := range c.Publishes {
				if scenario.Has(labels, pub.OnNodesWith) {
					grew = addMissing(labels, pub.Labels) || grew
				}
			}
		}
	}
	return labels
}

// served says whether all DaemonSets for GPU nodes of the component that have to be
// on the node run there, and among them one that brings the resource.
func (l *layout) served(p *picture, m *machine, g scenario.Grant, labels map[string]string) bool {
	brought := false
	for _, w := range l.components {
		if w.component != g.Component || w.spec.Kind != daemonSet || w.spec.Class != footprint.Accelerated {
			continue
		}
		if p.runsOn(w.of, m.written.Name) {
			brought = brought || slices.Contains(w.spec.Brings, string(g.Resource))
			continue
		}
		if scenario.Wants(w.spec, m.node, labels) {
			return false
		}
	}
	return brought
}

func addMissing(labels, more map[string]string) bool {
	grew := false
	for k, v := range more {
		if _, ok := labels[k]; !ok {
			labels[k], grew = v, true
		}
	}
	return grew
}
