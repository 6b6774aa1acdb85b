package gpustack

import (
	"context"
	"slices"

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

// usage is the usage of the GPUs that the proof of the gang scheduler uses, by node.
func (g *Gate) usage(ctx context.Context, cluster *kube.Cluster) (map[string]kube.Usage, error) {
	if g.dra() {
		return inventory.ClaimUsage(ctx, cluster, g.nodes)
	}
	return cluster.Usage(ctx, g.nodes, g.gang)
}

// perPod is the number of GPUs of a pod of the proof: all of a node.
func (g *Gate) perPod() int {
	if g.dra() {
		return g.wantGPUs
	}
	return g.resources[g.gang]
}
