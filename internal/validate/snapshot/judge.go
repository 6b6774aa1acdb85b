package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

// Judge implements check.Check: every node of the inventory exists, is Ready and has
// all its GPUs of the product that site and recipe name, all nodes have one driver version, and
// the recipe's constraints hold.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	server, serverID, err := check.One[Server](obs, kindServer)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	nodes, nodesID, err := check.One[[]Node](obs, kindNodes)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	published, err := slicesIn(obs)
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if len(c.demand.Nodes) == 0 || c.demand.GPUs < 1 {
		return check.NotObserved("the site has no GPU node, or its profile has no GPU: nothing to compare the cluster with")
	}
	j := judge{demand: c.demand, id: nodesID, nodes: map[string]Node{}, published: published, products: map[string]bool{}, versions: map[string][]string{}}
	j.readAnswers(obs)
	for _, n := range nodes {
		j.nodes[n.Name] = n
	}
	for _, name := range c.demand.Nodes {
		j.node(name)
	}
	j.drivers()
	j.judgeUnlistedNodes()
	j.constraints(server, serverID)
	j.Figure(check.Figure{
		Name: "GPUs", Value: float64(j.gpus), Unit: "GPUs", Limit: float64(c.demand.GPUs * len(c.demand.Nodes)), Relation: "==", Source: c.demand.GPUsSource,
	})
	return j.Judgement(fmt.Sprintf("Kubernetes %s, %d nodes with %d %s, driver %s", server.Version, len(c.demand.Nodes), j.gpus,
		strings.Join(slices.Sorted(maps.Keys(j.products)), ", "), strings.Join(slices.Sorted(maps.Keys(j.versions)), ", ")))
}

// judge collects the findings.
type judge struct {
	check.Builder
	demand Demand
	id     string
	nodes  map[string]Node
	// published are the slices of DRA drivers.
	published []inventory.Slice
	// answers are those of agents, silent the reasons of agents without one; both by node.
	answers  map[string]Answer
	silent   map[string]string
	agents   map[string]string // observation IDs by node
	gpus     int
	products map[string]bool
	versions map[string][]string
}

func (j *judge) node(name string) {
	n, ok := j.nodes[name]
	switch {
	case !ok:
		j.Fail(j.id, name, "join the node to the cluster, or take it out of the site's inventory", "node %s of the inventory is not in the cluster", name)
		return
	case !n.Ready:
		j.Fail(j.id, name, "see the node's conditions and its kubelet", "node %s is not Ready", name)
	case n.Unschedulable:
		j.Fail(j.id, name, "kubectl uncordon "+name+", or take it out of the site's inventory", "node %s is cordoned", name)
	}
	if gpus, _, _ := inventory.GPUsOnNode(j.published, name); j.demand.WithoutDRA && len(gpus) > 0 {
		j.Fail(j.id, name, "take gpustack.draDriver out of the site file, or uninstall the DRA driver: it and the device plugin do not know each other's allocations",
			"driver %s offers %d GPUs of node %s in ResourceSlices, and the site declares that no DRA driver is installed", inventory.Driver, len(gpus), name)
	}
	allocatable, capacity := j.count(n)
	if allocatable != j.demand.GPUs || capacity != j.demand.GPUs {
		j.Fail(j.id, name, "see the device plugin and nvidia-smi on the node (firstlight accept --only node)",
			"node %s has %d of %d GPUs allocatable, and %d are expected (%s)", name, allocatable, capacity, j.demand.GPUs, j.demand.GPUsSource)
	}
	j.gpus += allocatable
	product := j.product(n)
	switch {
	case product == "" && j.silent[name] != "":
		j.Unobserved(j.agents[name], name, remedyAgent, "node %s has no label %s, and the pod that reads its GPUs gave no answer: %s", name, productLabel, j.silent[name])
	case product == "":
		j.Fail(j.id, name, "see GPU feature discovery on the node", "node %s has no label %s", name, productLabel)
	case !slices.ContainsFunc(j.demand.Products, func(p string) bool { return dashed(p) == product }):
		j.Fail(j.id, name, "use the site's profile of this hardware, or the hardware of its profile",
			"node %s has GPUs %s, and the site's profile %s", name, product, strings.Join(j.demand.Products, " or "))
	case len(j.demand.RecipeProducts) > 0 && !slices.Contains(j.demand.RecipeProducts, product):
		j.Fail(j.id, name, "use a recipe for this accelerator: firstlight recipe list",
			"node %s has GPUs %s, and the recipe is for %s (%s)", name, product, j.demand.Accelerator, strings.Join(j.demand.RecipeProducts, ", "))
	}
	if len(j.demand.Arch) > 0 && !slices.Contains(j.demand.Arch, n.Arch) {
		j.Fail(j.id, name, "use a recipe for this accelerator: firstlight recipe list", "node %s is %s, and the recipe's accelerator is built into %s", name, n.Arch, strings.Join(j.demand.Arch, ", "))
	}
	j.products[product] = true
	j.versions[j.driver(n)] = append(j.versions[j.driver(n)], name)
}

// drivers must be known, and the same on all nodes.
func (j *judge) drivers() {
	missing := slices.DeleteFunc(j.versions[""], func(name string) bool {
		if j.silent[name] == "" {
			return false
		}
		j.Unobserved(j.agents[name], name, remedyAgent, "node %s has no label %s, and the pod that reads its driver gave no answer: %s", name, driverLabel, j.silent[name])
		return true
	})
	delete(j.versions, "")
	if len(missing) > 0 {
		j.Fail(j.id, missing[0], "see GPU feature discovery on the node", "nodes %s have no label %s", strings.Join(missing, ", "), driverLabel)
	}
	common := ""
	for _, v := range slices.Sorted(maps.Keys(j.versions)) {
		if len(j.versions[v]) > len(j.versions[common]) {
			common = v
		}
	}
	for _, v := range slices.Sorted(maps.Keys(j.versions)) {
		if v != common {
			j.Fail(j.id, j.versions[v][0], "install one driver version on all nodes", "driver %s on %s, and %s on %d nodes", v, strings.Join(j.versions[v], ", "), common, len(j.versions[common]))
		}
	}
}

// judgeUnlistedNodes adds a finding for each GPU node that is missing in the inventory: it is not
// validated, and a workload may be scheduled there.
func (j *judge) judgeUnlistedNodes() {
	for _, name := range slices.Sorted(maps.Keys(j.nodes)) {
		n := j.nodes[name]
		if _, capacity := j.count(n); capacity > 0 && !slices.Contains(j.demand.Nodes, name) && !ordered(n) {
			j.Fail(j.id, name, "add it to the site's inventory, or take it out of the cluster", "node %s has %d GPUs and is not in the site's inventory", name, capacity)
		}
	}
}

// ordered reports whether an autoscaler created the node and will delete it.
func ordered(n Node) bool { return n.Labels["karpenter.sh/nodepool"] != "" }
