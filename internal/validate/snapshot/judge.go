package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

const (
	productLabel = "nvidia.com/gpu.product"
	driverLabel  = "nvidia.com/cuda.driver-version.full"
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
	if len(c.demand.Nodes) == 0 || c.demand.GPUs < 1 {
		return check.NotObserved("the site has no GPU node, or its profile has no GPU: nothing to compare the cluster with")
	}
	j := judge{demand: c.demand, id: nodesID, nodes: map[string]Node{}, products: map[string]bool{}, versions: map[string][]string{}}
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
	demand   Demand
	id       string
	nodes    map[string]Node
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
	if n.Allocatable != j.demand.GPUs || n.Capacity != j.demand.GPUs {
		j.Fail(j.id, name, "see the device plugin and nvidia-smi on the node (firstlight accept --only node)",
			"node %s has %d of %d GPUs allocatable, and %d are expected (%s)", name, n.Allocatable, n.Capacity, j.demand.GPUs, j.demand.GPUsSource)
	}
	j.gpus += n.Allocatable
	product := n.Labels[productLabel]
	switch {
	case product == "":
		j.Fail(j.id, name, "see GPU feature discovery on the node", "node %s has no label %s", name, productLabel)
	case !slices.ContainsFunc(j.demand.Products, func(p string) bool { return strings.ReplaceAll(p, " ", "-") == product }):
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
	j.versions[n.Labels[driverLabel]] = append(j.versions[n.Labels[driverLabel]], name)
}

// drivers must be known, and the same on all nodes.
func (j *judge) drivers() {
	if missing := j.versions[""]; len(missing) > 0 {
		j.Fail(j.id, missing[0], "see GPU feature discovery on the node", "nodes %s have no label %s", strings.Join(missing, ", "), driverLabel)
		delete(j.versions, "")
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
		if n := j.nodes[name]; n.Capacity > 0 && !slices.Contains(j.demand.Nodes, name) && !ordered(n) {
			j.Fail(j.id, name, "add it to the site's inventory, or take it out of the cluster", "node %s has %d GPUs and is not in the site's inventory", name, n.Capacity)
		}
	}
}

// ordered reports whether an autoscaler created the node and will delete it.
func ordered(n Node) bool { return n.Labels["karpenter.sh/nodepool"] != "" }

// constraints judges the recipe's constraints.
func (j *judge) constraints(server Server, id string) {
	for _, r := range constraint.JudgeAll(j.demand.Constraints, measured(server, j.nodes, j.demand.Nodes)).Results {
		switch {
		case r.Severity == "warning":
		case r.Verdict == check.Failed:
			f := check.NewFinding(id, "recipe constraint "+r.Name, orElse(r.Remediation, "change the cluster, or the recipe"),
				"%s is %s, and the recipe requires %s", r.Name, r.Actual, r.Expected)
			f.Observations = append(f.Observations, j.id)
			j.AddFailed(f)
		case r.Verdict == check.Unobserved:
			j.Unobserved(j.id, "recipe constraint "+r.Name, "run the step again after all nodes have the same value", "constraint %s: %s", r.Name, r.Reason)
		}
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
