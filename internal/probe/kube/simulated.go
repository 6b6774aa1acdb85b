package kube

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kwokNode is the annotation of KWOK nodes.
const kwokNode = "kwok.x-k8s.io/node"

// namedNodes is the most node names in a reason.
const namedNodes = 4

// Simulated reports whether nodes of the cluster are simulated, with the reason, from data
// that every client of the API can read.
func (c *Cluster) Simulated(ctx context.Context) (simulated bool, why string, err error) {
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, "", fmt.Errorf("list nodes: %w", err)
	}
	simulated, why = SimulatedIn(nodes.Items)
	return simulated, why, nil
}

// SimulatedIn is Simulated for a list of nodes.
func SimulatedIn(nodes []corev1.Node) (simulated bool, why string) {
	var names []string
	for _, n := range nodes {
		if _, ok := n.Annotations[kwokNode]; ok {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return false, fmt.Sprintf("none of %d nodes carries the annotation %s", len(nodes), kwokNode)
	}
	sort.Strings(names)
	shown := names
	more := ""
	if len(names) > namedNodes {
		shown, more = names[:namedNodes], ", ..."
	}
	return true, fmt.Sprintf("%d of %d nodes carry the annotation %s (%s%s)",
		len(names), len(nodes), kwokNode, strings.Join(shown, ", "), more)
}
