package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// OccupiedError names nodes of a run on which pods of others run. They and their NodePools are kept.
type OccupiedError struct {
	// Pods by node, NodePools of the nodes.
	Pods  map[string][]string
	Pools []string
}

func (e *OccupiedError) Error() string {
	var text []string
	for _, node := range slices.Sorted(maps.Keys(e.Pods)) {
		text = append(text, fmt.Sprintf("node %s is kept: %s, not of the run, on it", node, strings.Join(e.Pods[node], ", ")))
	}
	out := strings.Join(text, "; ")
	if len(e.Pools) > 0 {
		out += "; they get no more nodes, delete them when these pods have ended: kubectl delete nodepool " + strings.Join(e.Pools, " ")
	}
	return out
}

// Occupied separates the OccupiedError of Cleanup from its other errors.
func Occupied(err error) (occupied *OccupiedError, rest error) { return separate[*OccupiedError](err) }

// poolLabel names the NodePool of a node.
const poolLabel = "karpenter.sh/nodepool"

// occupied lists the nodes of a run that have pods of others. A pod of a DaemonSet, a static pod and one that
// has ended need no node.
func (g Guest) occupied(ctx context.Context, runID string) (*OccupiedError, error) {
	nodes, err := g.Cluster.listCreated(ctx, nodes(), LabelRun+"="+runID)
	if err != nil {
		return nil, err
	}
	out := &OccupiedError{Pods: map[string][]string{}}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		pods, err := g.Cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node.GetName()).String()})
		if err != nil {
			return nil, fmt.Errorf("list the pods on node %s: %w", node.GetName(), err)
		}
		for j := range pods.Items {
			if p := &pods.Items[j]; p.Spec.NodeName == node.GetName() && ofOthers(p, runID) {
				out.Pods[node.GetName()] = append(out.Pods[node.GetName()], "pod "+p.Namespace+"/"+p.Name)
			}
		}
		if pool := node.GetLabels()[poolLabel]; out.Pods[node.GetName()] != nil && pool != "" && !slices.Contains(out.Pools, pool) {
			out.Pools = append(out.Pools, pool)
		}
	}
	return out, nil
}

func ofOthers(p *corev1.Pod, runID string) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return !ended && p.Labels[LabelRun] != runID && !slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "DaemonSet" || o.Kind == "Node"
	})
}

// keeps reports whether an object has to remain for pods of others.
func (e *OccupiedError) keeps(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "NodePool":
		return slices.Contains(e.Pools, o.GetName())
	case "NodeClaim":
		node, _, _ := unstructured.NestedString(o.Object, "status", "nodeName")
		return e.Pods[node] != nil
	default:
		return e.Pods[o.GetName()] != nil
	}
}

// emptied makes a NodePool create no more nodes and remove those that it has only when they are empty.
const emptied = `{"spec":{"limits":{"cpu":"0"},"disruption":{"consolidationPolicy":"WhenEmpty"}}}`

// removeCapacity requests the deletion of node pools and node claims with their nodes. Nodes with pods of
// others stay, with what belongs to them: the deletion of a NodePool or NodeClaim would end these pods.
func (g Guest) removeCapacity(ctx context.Context, runID string) (*OccupiedError, error) {
	kept, err := g.occupied(ctx, runID)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, pool := range kept.Pools {
		if _, err := g.Cluster.Dynamic.Resource(NodePools()).Patch(ctx, pool, types.MergePatchType, []byte(emptied), metav1.PatchOptions{}); err != nil {
			problems = append(problems, fmt.Errorf("limit NodePool %s to its nodes: %w", pool, err))
		}
	}
	for _, k := range capacity() {
		problems = append(problems, g.Cluster.deleteLabelled(ctx, k, LabelRun+"="+runID, kept.keeps))
	}
	return kept, errors.Join(problems...)
}

// waitCapacityGone waits until node pools, node claims and nodes are deleted, which takes as
// long as their provider needs. It also deletes the nodes of the run: a node that joins
// after its claim was deleted has no other owner. The error names the nodes that are kept.
func (g Guest) waitCapacityGone(ctx context.Context, runID string, kept *OccupiedError) error {
	if kept == nil {
		return nil // nothing was deleted
	}
	selector := LabelRun + "=" + runID
	var problems []error
	for _, k := range capacity() {
		problems = append(problems, g.Cluster.waitNone(ctx, k, selector, kept.keeps))
	}
	problems = append(problems, g.Cluster.deleteLabelled(ctx, nodes(), selector, kept.keeps), g.Cluster.waitNone(ctx, nodes(), selector, kept.keeps))
	return errors.Join(problems...)
}
