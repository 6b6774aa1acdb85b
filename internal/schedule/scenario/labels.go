package scenario

import (
	"maps"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// Settled are the labels that a node ends up with when every DaemonSet runs where
// it has to: those that it registers with, those that are discovered on it, and
// those that components publish on nodes with others.
func Settled(n Node, components []footprint.Component) map[string]string {
	return addDiscoveredLabels(n, components, func(w footprint.Workload, labels map[string]string) bool { return Wants(w, n, labels) })
}

// addDiscoveredLabels adds labels until none is missing; finds reports whether a discovering workload runs
// on the node with the labels. Existing labels are not changed, so the loop ends.
func addDiscoveredLabels(n Node, components []footprint.Component, finds func(footprint.Workload, map[string]string) bool) map[string]string {
	labels := maps.Clone(n.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for grew := true; grew; {
		grew = false
		for _, c := range components {
			for _, w := range c.Workloads {
				if w.Discovers && finds(w, labels) {
					grew = AddMissing(labels, n.Discovered[c.Name]) || grew
				}
			}
			for _, p := range c.Publishes {
				if Has(labels, p.OnNodesWith) {
					grew = AddMissing(labels, p.Labels) || grew
				}
			}
		}
	}
	return labels
}

// Has reports whether labels contains all wanted labels.
func Has(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// AddMissing adds the labels of more whose keys labels does not have, and reports whether it
// added any.
func AddMissing(labels, more map[string]string) bool {
	grew := false
	for k, v := range more {
		if _, ok := labels[k]; !ok {
			labels[k], grew = v, true
		}
	}
	return grew
}
