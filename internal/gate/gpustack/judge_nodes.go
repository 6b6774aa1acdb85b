package gpustack

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

func (g *Gate) judgeNodes(b *check.Builder, o check.Observation, nodes []nodeFigures, all map[string]installed) {
	tolerations, err := g.tolerations()
	if err != nil {
		b.Unobserved(o.ID, "site workloads", "correct the patches of pods in the site file", "which taints the pods of the gates tolerate is unknown: %v", err)
	}
	allocatable := 0
	for _, name := range g.nodes {
		i := slices.IndexFunc(nodes, func(n nodeFigures) bool { return n.Name == name })
		if i < 0 {
			b.Fail(o.ID, name, "join the node to the cluster, or correct the inventory", "is in the inventory and not in the cluster")
			continue
		}
		for name := range g.resources {
			allocatable += nodes[i].Resources[name].Allocatable
		}
		g.judgeNode(b, o, nodes[i], all[nodes[i].Name])
		if err == nil {
			judgeTaints(b, o, nodes[i], tolerations)
		}
	}
	var others []string
	for _, n := range nodes {
		switch {
		case slices.Contains(g.nodes, n.Name) || slices.Contains(g.site.Inventory.LeftOut, n.Name):
		case g.site.Inventory.OfOtherSite(n.Name):
			others = append(others, n.Name)
		default:
			b.Fail(o.ID, n.Name, remedyUnlisted, "has %d GPUs and is not in the inventory", n.capacity())
		}
	}
	if len(others) > 0 {
		b.Note(o.ID, "site inventory.otherNodes", "", "%d GPU nodes of the cluster are of other sites, and were not judged: %s", len(others), joined(others))
	}
	b.Figure(check.Figure{
		Name: "allocatable GPUs", Value: float64(allocatable), Unit: "GPUs",
		Limit: float64(g.perNode() * len(g.nodes)), Relation: "==", Source: "inventory x " + g.gpuSource,
	})
}

const remedyUnlisted = "add the node to the inventory, or remove it from the cluster; if another site file has it, name it in inventory.otherNodes"

// driverUpgraded is the GPU Operator's state of a node whose driver is up to date; all others are steps of an upgrade
// that has not succeeded (github.com/NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go).
const driverUpgraded = "upgrade-done"

const labelUpgrade = "nvidia.com/gpu-driver-upgrade-state"

// migApplied is MIG manager's state of a configuration in effect.
const migApplied = "success"

func (g *Gate) judgeNode(b *check.Builder, o check.Observation, n nodeFigures, of installed) {
	if !n.Ready {
		b.Fail(o.ID, n.Name, "look at the node's kubelet: "+of.KubeletLog(of.ControlPlane), "is not Ready: %s", n.NotReadyWhy)
	}
	if !n.Schedulable {
		b.Fail(o.ID, n.Name, "kubectl uncordon "+n.Name+" once the reason for the cordon is resolved", "is cordoned")
	}
	for _, name := range slices.Sorted(maps.Keys(n.Pressures)) {
		b.Fail(o.ID, n.Name,
			"kubectl describe node "+n.Name+"; free the exhausted resource (for DiskPressure: images, logs and emptyDirs below /var/lib), then wait until the condition clears",
			"has condition %s (%s): new pods are not scheduled on it, and running ones may be evicted",
			name, n.Pressures[name])
	}
	if n.MIGState != "" && n.MIGState != migApplied {
		b.Fail(o.ID, n.Name, "wait for pending changes; else read the log of the node's nvidia-mig-manager pod, free the GPUs and request the configuration again (label nvidia.com/mig.config)", "the MIG configuration %s is %s", n.MIGConfig, n.MIGState)
	}
	judgeReported(b, o, n)
	if n.DriverUpgrade != "" && n.DriverUpgrade != driverUpgraded {
		b.Fail(o.ID, n.Name,
			"wait for the upgrade; in state upgrade-required or upgrade-failed read the log of the gpu-operator pod, and see NVIDIA's page on GPU driver upgrades",
			"the upgrade of its driver is in state %s (label %s): the driver on it is not, or not yet known to be, the one of the ClusterPolicy",
			n.DriverUpgrade, labelUpgrade)
	}
	g.judgeMIG(b, o, n)
	g.judgeDivisions(b, o, n)
	g.judgeProvider(b, o, n, of)
	for _, name := range slices.Sorted(maps.Keys(g.resources)) {
		g.judgeResource(b, o, n, name, g.resources[name], remedyPlugin)
	}
	if g.judgesNetwork() {
		g.judgeResource(b, o, n, g.network, g.wantPorts,
			"look at the RDMA device plugin's pod of the node (network operator) and at ibstat on it")
	}
}

const remedyPlugin = "look at the nvidia-device-plugin pod of the node and at nvidia-smi on it; if the cluster offers its GPUs through dynamic resource allocation alone, declare gpustack.deviceClass"

// judgeMIG requires the declared strategy, and no MIG devices that the site does not declare.
func (g *Gate) judgeMIG(b *check.Builder, o check.Observation, n nodeFigures) {
	if m := g.stack.MIG; m != nil {
		switch n.MIGStrategy {
		case m.Strategy:
		case "":
			b.Unobserved(o.ID, n.Name, "look at the gpu-feature-discovery pod of the node", "has no label nvidia.com/mig.strategy: how its MIG devices are offered was not observed")
		default:
			b.Fail(o.ID, n.Name, "set mig.strategy of the ClusterPolicy, or correct gpustack.mig.strategy", "offers MIG devices with strategy %s, want %s", n.MIGStrategy, m.Strategy)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Resources)) {
		if _, declared := g.resources[name]; !declared && strings.HasPrefix(name, site.MIGResource) && n.Resources[name].Capacity > 0 {
			b.Fail(o.ID, n.Name+"/"+name, "declare the partitioning of the GPUs in gpustack.mig, or remove it (label nvidia.com/mig.config: all-disabled)", "%s offers %d of %s, which the site does not declare", n.Name, n.Resources[name].Capacity, name)
		}
	}
}

// judgeDivisions requires that the number of resources is the number of GPUs, or of declared MIG devices.
func (g *Gate) judgeDivisions(b *check.Builder, o check.Observation, n nodeFigures) {
	var what []string
	for _, d := range n.Divisions {
		if !d.MIG || g.stack.MIG == nil {
			what = append(what, d.What)
		}
	}
	if len(what) > 0 {
		b.Fail(o.ID, n.Name, "give each pod whole GPUs: remove the sharing of the device plugin's configuration (label nvidia.com/device-plugin.config, devicePlugin.config of the ClusterPolicy) or the node pool's; declare MIG devices in gpustack.mig",
			"its GPUs are divided: %s; a pod that requests one gets a part of a GPU", strings.Join(what, "; "))
	}
}

// perNode is the number of devices that a node must offer.
func (g *Gate) perNode() int {
	total := 0
	for _, n := range g.resources {
		total += n
	}
	return total
}

// capacity is the number of GPUs and MIG devices of a node.
func (n nodeFigures) capacity() int {
	total := 0
	for name, r := range n.Resources {
		if name == kube.GPUResource || partsOfGPUs(name) {
			total += r.Capacity
		}
	}
	return total
}

// judgesNetwork reports whether nodes must offer the network resource.
func (g *Gate) judgesNetwork() bool { return g.network != "" && g.wantPorts > 0 }

// judgeResource requires the expected capacity and allocatable amount.
func (g *Gate) judgeResource(b *check.Builder, o check.Observation, n nodeFigures, resource string, want int, remedy string) {
	got := n.Resources[resource]
	if got.Capacity == want && got.Allocatable == want {
		return
	}
	b.Fail(o.ID, n.Name+"/"+resource, remedy, "%s has %d of %s allocatable and a capacity of %d; %d are expected", n.Name, got.Allocatable, resource, got.Capacity, want)
}
