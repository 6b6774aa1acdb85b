package gpustack

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// dra reports whether the GPUs are offered through dynamic resource allocation.
func (g *Gate) dra() bool { return g.stack.DeviceClass != "" }

// observeSlices records the GPUs of every node with slices of the driver, and of the inventory.
func (g *Gate) observeSlices(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if !g.dra() {
		return nil
	}
	attempt := g.begin(rec, kindSlices, "cluster", "GET resourceslices")
	all, err := inventory.ListSlices(ctx, cluster)
	if err != nil {
		return attempt.Record(nil, err)
	}
	nodes := slices.Clone(g.nodes)
	for _, s := range all {
		if s.Driver == inventory.Driver && s.Node != "" && !slices.Contains(nodes, s.Node) {
			nodes = append(nodes, s.Node)
		}
	}
	figures := []sliceFigures{}
	for _, node := range nodes {
		gpus, published, problems := inventory.GPUsOnNode(all, node)
		figures = append(figures, sliceFigures{Node: node, GPUs: len(gpus), Slices: published, Problems: problems})
	}
	return attempt.Raw(rawJSON(all)).Record(figures, nil)
}

// observeClass records the DeviceClass of the pods' claims.
func (g *Gate) observeClass(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if !g.dra() {
		return nil
	}
	attempt := g.begin(rec, kindClass, g.stack.DeviceClass, "GET deviceclasses/"+g.stack.DeviceClass)
	class, err := cluster.DRA().DeviceClasses().Get(ctx, g.stack.DeviceClass, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return attempt.Record(classFigures{}, nil)
	case err != nil:
		return attempt.Record(nil, fmt.Errorf("get DeviceClass %s: %w", g.stack.DeviceClass, err))
	}
	figures := classFigures{Found: true}
	for _, s := range class.Spec.Selectors {
		if s.CEL != nil {
			figures.Selectors = append(figures.Selectors, s.CEL.Expression)
		}
	}
	if name := class.Spec.ExtendedResourceName; name != nil {
		figures.ExtendedResource = *name
	}
	class.ManagedFields = nil
	return attempt.Raw(rawJSON(class)).Record(figures, nil)
}

// usage is the usage of the GPUs that the proof of the gang scheduler uses, by node.
func (g *Gate) usage(ctx context.Context, cluster *kube.Cluster) (map[string]kube.Usage, error) {
	if g.dra() {
		return inventory.ClaimUsage(ctx, cluster, g.nodes)
	}
	return cluster.Usage(ctx, g.nodes, g.gang)
}

// usageCommand is what usage reads.
func (g *Gate) usageCommand() string {
	if g.dra() {
		return inventory.UsageCommand(g.stack.DeviceClass)
	}
	return "GET nodes, pods: " + g.gang + " allocatable less requested by live pods"
}

// perPod is the number of GPUs of a pod of the proof: all of a node.
func (g *Gate) perPod() int {
	if g.dra() {
		return g.wantGPUs
	}
	return g.resources[g.gang]
}
