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

const remedySlices = "see the log of the DRA driver's kubelet plugin on the node, and nvidia-smi there"

// judgeSlices requires the profile's GPUs in the slices of every node of the inventory, and of no
// other. judgeNode requires that the device plugin does not offer them, too.
func (g *Gate) judgeSlices(b *check.Builder, o check.Observation, found []sliceFigures) {
	offered := 0
	for _, name := range g.nodes {
		i := slices.IndexFunc(found, func(f sliceFigures) bool { return f.Node == name })
		if i < 0 {
			b.Unobserved(o.ID, name, "run the gate again", "its ResourceSlices were not observed")
			continue
		}
		f := found[i]
		offered += f.GPUs
		for _, problem := range f.Problems {
			b.Fail(o.ID, name, remedySlices, "%s", problem)
		}
		if f.GPUs != g.wantGPUs {
			b.Fail(o.ID, name, remedySlices, "offers %d GPUs in %d ResourceSlices of %s, %d are expected", f.GPUs, f.Slices, g.stack.DeviceClass, g.wantGPUs)
		}
	}
	for _, f := range found {
		if !slices.Contains(g.nodes, f.Node) && !slices.Contains(g.site.Inventory.LeftOut, f.Node) {
			b.Fail(o.ID, f.Node, "add the node to the inventory, or remove it from the cluster", "has %d GPUs and is not in the inventory", f.GPUs)
		}
	}
	b.Figure(check.Figure{
		Name: "GPUs offered through DRA", Value: float64(offered), Unit: "GPUs",
		Limit: float64(g.wantGPUs * len(g.nodes)), Relation: "==", Source: "inventory x " + g.gpuSource,
	})
}

// usage is the usage of the GPUs that the proof of the gang scheduler uses, by node.
func (g *Gate) usage(ctx context.Context, cluster *kube.Cluster) (map[string]kube.Usage, error) {
	if !g.dra() {
		return cluster.Usage(ctx, g.nodes, g.gang)
	}
	all, err := inventory.ListSlices(ctx, cluster)
	if err != nil {
		return nil, err
	}
	nodes, err := inventory.Usage(ctx, cluster, g.nodes, all)
	if err != nil {
		return nil, err
	}
	out := map[string]kube.Usage{}
	for _, n := range nodes {
		u := kube.Usage{Requested: n.Allocated + n.Plugged}
		if n.Open {
			u.Allocatable = n.Offered
		}
		for _, holder := range n.Holders {
			u.Holders = append(u.Holders, kube.Holder{Pod: holder})
		}
		out[n.Node] = u
	}
	return out, nil
}

// perPod is the number of GPUs of a pod of the proof: all of a node.
func (g *Gate) perPod() int {
	if g.dra() {
		return g.wantGPUs
	}
	return g.resources[g.gang]
}
