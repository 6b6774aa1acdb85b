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

// Judge implements check.Check: every node of the inventory is there, Ready, with all
// its GPUs of the product that site and recipe name, all with one driver, and the
// recipe's constraints hold.
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
		return check.NotObserved("the site names no GPU node, or its profile no GPU: there is nothing to hold the cluster against")
	}
	j := judge{demand: c.demand, id: nodesID, there: map[string]Node{}}
	for _, n := range nodes {
		j.there[n.Name] = n
	}
	for _, name := range c.demand.Nodes {
		j.node(name)
	}
	j.drivers()
	j.strangers()
	unobserved := j.constraints(server, serverID)
	figures := []check.Figure{{
		Name: "GPUs", Value: float64(j.gpus), Unit: "GPUs", Limit: float64(c.demand.GPUs * len(c.demand.Nodes)), Relation: "==", Source: c.demand.GPUsSource,
	}}
	switch {
	case len(j.findings) > 0:
		out := check.Fail(fmt.Sprintf("%s, and %d more", j.findings[0].Message, len(j.findings)-1), j.findings...)
		if len(j.findings) == 1 {
			out.Reason = j.findings[0].Message
		}
		out.Figures = figures
		return out
	case unobserved != "":
		return check.NotObserved(unobserved)
	}
	return check.Pass(fmt.Sprintf("Kubernetes %s, %d nodes with %d %s, driver %s", server.Version, len(c.demand.Nodes), j.gpus,
		strings.Join(slices.Sorted(maps.Keys(j.products)), ", "), strings.Join(slices.Sorted(maps.Keys(j.versions)), ", ")), figures...)
}

// judge gathers what is wrong.
type judge struct {
	demand   Demand
	id       string
	there    map[string]Node
	gpus     int
	products map[string]bool
	versions map[string][]string
	findings []check.Finding
}

func (j *judge) find(suspect, remedy, format string, args ...any) {
	j.findings = append(j.findings, check.Finding{Suspect: suspect, Message: fmt.Sprintf(format, args...), Remedy: remedy, Observations: []string{j.id}})
}

func (j *judge) node(name string) {
	n, ok := j.there[name]
	switch {
	case !ok:
		j.find(name, "join the node to the cluster, or take it out of the site's inventory", "node %s of the inventory is not in the cluster", name)
		return
	case !n.Ready:
		j.find(name, "see the node's conditions and its kubelet", "node %s is not Ready", name)
	case n.Unschedulable:
		j.find(name, "kubectl uncordon "+name+", or take it out of the site's inventory", "node %s is cordoned", name)
	}
	if n.Allocatable != j.demand.GPUs || n.Capacity != j.demand.GPUs {
		j.find(name, "see the device plugin and nvidia-smi on the node (firstlight accept --only node)",
			"node %s has %d of %d GPUs allocatable, and %d are expected (%s)", name, n.Allocatable, n.Capacity, j.demand.GPUs, j.demand.GPUsSource)
	}
	j.gpus += n.Allocatable
	product := n.Labels[productLabel]
	switch {
	case product == "":
		j.find(name, "see GPU feature discovery on the node", "node %s does not say which GPUs it has: it lacks the label %s", name, productLabel)
	case !slices.ContainsFunc(j.demand.Products, func(p string) bool { return strings.ReplaceAll(p, " ", "-") == product }):
		j.find(name, "use the site's profile of this hardware, or the hardware of its profile",
			"node %s has GPUs %s, and the site's profile %s", name, product, strings.Join(j.demand.Products, " or "))
	case len(j.demand.RecipeProducts) > 0 && !slices.Contains(j.demand.RecipeProducts, product):
		j.find(name, "use a recipe for this accelerator: firstlight recipe list",
			"node %s has GPUs %s, and the recipe is for %s (%s)", name, product, j.demand.Accelerator, strings.Join(j.demand.RecipeProducts, ", "))
	}
	if len(j.demand.Arch) > 0 && !slices.Contains(j.demand.Arch, n.Arch) {
		j.find(name, "use a recipe for this accelerator: firstlight recipe list", "node %s is %s, and the recipe's accelerator is built into %s", name, n.Arch, strings.Join(j.demand.Arch, ", "))
	}
	if product != "" {
		if j.products == nil {
			j.products = map[string]bool{}
		}
		j.products[product] = true
	}
	if j.versions == nil {
		j.versions = map[string][]string{}
	}
	j.versions[n.Labels[driverLabel]] = append(j.versions[n.Labels[driverLabel]], name)
}

// drivers have to be known, and one.
func (j *judge) drivers() {
	if missing := j.versions[""]; len(missing) > 0 {
		j.find(missing[0], "see GPU feature discovery on the node", "nodes %s do not say which driver they have: they lack the label %s", strings.Join(missing, ", "), driverLabel)
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
			j.find(j.versions[v][0], "install one driver version on all nodes", "driver %s on %s, and %s on %d nodes", v, strings.Join(j.versions[v], ", "), common, len(j.versions[common]))
		}
	}
}

// strangers are nodes with GPUs that the inventory does not have: they are not ours to
// judge, and a workload may land there.
func (j *judge) strangers() {
	for _, name := range slices.Sorted(maps.Keys(j.there)) {
		if n := j.there[name]; n.Capacity > 0 && !slices.Contains(j.demand.Nodes, name) && !ordered(n) {
			j.find(name, "add it to the site's inventory, or take it out of the cluster", "node %s has %d GPUs and is not in the site's inventory", name, n.Capacity)
		}
	}
}

// ordered: an autoscaler made the node, and will take it away.
func ordered(n Node) bool { return n.Labels["karpenter.sh/nodepool"] != "" }

// constraints of the recipe; what could not be measured is returned.
func (j *judge) constraints(server Server, id string) (unobserved string) {
	if len(j.demand.Constraints) == 0 {
		return ""
	}
	seen, err := measured(server, j.there, j.demand.Nodes)
	if err != nil {
		return err.Error()
	}
	for _, r := range constraint.JudgeAll(j.demand.Constraints, seen).Results {
		switch {
		case r.Verdict == check.Failed && r.Severity != "warning":
			j.findings = append(j.findings, check.Finding{
				Suspect: "recipe constraint " + r.Name, Message: fmt.Sprintf("%s is %s, and the recipe wants %s", r.Name, r.Actual, r.Expected),
				Remedy: orElse(r.Remediation, "change the cluster, or the recipe"), Observations: []string{id, j.id},
			})
		case r.Verdict == check.Unobserved && r.Severity != "warning" && unobserved == "":
			unobserved = fmt.Sprintf("constraint %s: %s", r.Name, r.Reason)
		}
	}
	return unobserved
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
