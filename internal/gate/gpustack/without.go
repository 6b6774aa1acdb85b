package gpustack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	// deployLabel begins the labels by which DaemonSets of the GPU Operator select nodes: nvidia.com/gpu.deploy.device-plugin=true.
	// It leaves a value that a node has (github.com/NVIDIA/gpu-operator, controllers/state_manager.go: addGPUStateLabels).
	deployLabel = "nvidia.com/gpu.deploy."
	// The operator labels nodes for MIG manager unless GPU feature discovery says that their GPUs cannot do MIG (hasMIGCapableGPU).
	labelMIGManager = deployLabel + "mig-manager"
	labelMIGCapable = "nvidia.com/mig.capable"
)

// without is the label by which a node has no pod of a DaemonSet by intention; empty: none. A node that lacks the label of the
// nodeSelector must have a pod, since the operator may not have detected its GPUs, and so must a node that is paused for an upgrade.
func without(n *corev1.Node, set *appsv1.DaemonSet) string {
	selector := set.Spec.Template.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value, labelled := n.Labels[key]
		switch {
		case !strings.HasPrefix(key, deployLabel) || value == selector[key]:
		case value == "false", key == labelDriver && value == driverPreInstalled:
			return key + "=" + value
		case key == labelMIGManager && !labelled && n.Labels[labelMIGCapable] == "false":
			return labelMIGCapable + "=false"
		}
	}
	return ""
}

// readWithout adds the nodes that have no pod by intention. The nodes are only read if a DaemonSet lacks a pod on one.
func (g *Gate) readWithout(ctx context.Context, cluster *kube.Cluster, sets []appsv1.DaemonSet, figures []operandFigures) error {
	if !slices.ContainsFunc(figures, func(f operandFigures) bool { return f.Found && len(g.lacking(f)) > 0 }) {
		return nil
	}
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range figures {
		f := &figures[i]
		set := slices.IndexFunc(sets, func(s appsv1.DaemonSet) bool { return s.Name == f.Name })
		if set < 0 {
			continue
		}
		lacking := g.lacking(*f)
		for j := range nodes.Items {
			n := &nodes.Items[j]
			if why := without(n, &sets[set]); why != "" && slices.Contains(lacking, n.Name) {
				if f.Without == nil {
					f.Without = map[string]string{}
				}
				f.Without[n.Name] = why
			}
		}
	}
	return nil
}

// lacking are the nodes of the inventory on which a DaemonSet has no pod.
func (g *Gate) lacking(f operandFigures) []string {
	return slices.DeleteFunc(slices.Clone(g.nodes), func(node string) bool {
		return slices.ContainsFunc(f.Pods, func(p operandPod) bool { return p.Node == node })
	})
}

// noteWithout states the nodes of the inventory without a pod of these DaemonSets by intention, and returns them.
func (g *Gate) noteWithout(b *check.Builder, o check.Observation, suspect string, sets ...operandFigures) []string {
	var nodes, labels []string
	for _, node := range g.nodes {
		lack, label := true, ""
		for _, f := range sets {
			lack = lack && slices.Contains(g.lacking(f), node)
			if why := f.Without[node]; why != "" {
				label = why
			}
		}
		if lack && label != "" {
			nodes, labels = append(nodes, node), append(labels, label)
		}
	}
	if len(nodes) > 0 {
		b.Note(o.ID, suspect, "", "has no pod on %s, by the label %s of these nodes", listed(nodes), joined(labels))
	}
	return nodes
}
