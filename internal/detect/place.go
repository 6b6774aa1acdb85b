package detect

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// counted lists what f says of nodes with the number of nodes, most common first.
func counted(nodes []corev1.Node, f func(*corev1.Node) string) []count {
	by := map[string]int{}
	for i := range nodes {
		by[f(&nodes[i])]++
	}
	var out []count
	for _, text := range slices.Sorted(maps.Keys(by)) {
		out = append(out, count{text, by[text]})
	}
	slices.SortStableFunc(out, func(a, b count) int { return b.nodes - a.nodes })
	return out
}

// count is a text and how many nodes have it.
type count struct {
	text  string
	nodes int
}

// describe lists counts: "3 x a, 1 x b".
func describe(counts []count) string {
	parts := make([]string, 0, len(counts))
	for _, c := range counts {
		parts = append(parts, fmt.Sprintf("%d x %s", c.nodes, c.text))
	}
	return strings.Join(parts, ", ")
}

// clouds describes where the machines are, by spec.providerID.
func (s *Snapshot) clouds(k names) string {
	return describe(counted(s.Nodes, func(n *corev1.Node) string {
		if n.Spec.ProviderID == "" {
			return "no cloud (spec.providerID is empty)"
		}
		for _, c := range k.Clouds {
			if strings.HasPrefix(n.Spec.ProviderID, c.ProviderID) {
				return c.Name + " (spec.providerID " + c.ProviderID + "...)"
			}
		}
		scheme, _, named := strings.Cut(n.Spec.ProviderID, "://")
		if !named { // the rest is of the machine
			return "unknown cloud (spec.providerID without a scheme)"
		}
		return "unknown cloud (spec.providerID " + scheme + "://...)"
	}))
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// maxName is the longest name of a site or a group.
const maxName = 63

// label is a text as a name of a site or a group; empty if no character fits.
func label(text string) string {
	name := notInName.ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// name is the site's, from the cluster's name in the kubeconfig:
// "arn:aws:eks:us-east-2:1:cluster/prod" is prod, as is "gke_project_zone_prod".
func (s *Snapshot) name() value {
	base := s.ClusterName
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		base = base[i+1:]
	}
	if rest, ok := strings.CutPrefix(base, "gke_"); ok {
		parts := strings.Split(rest, "_")
		base = parts[len(parts)-1]
	}
	name := label(base)
	if name == "" {
		return todo("", "a name for the site; no kubeconfig names the cluster")
	}
	return seen(name, "cluster %q of the kubeconfig", s.ClusterName)
}
