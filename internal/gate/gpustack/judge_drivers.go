package gpustack

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const remedySelector = "set spec.nodeSelector of the NVIDIADrivers so that exactly one selects each GPU node: kubectl get nvidiadrivers -o yaml"

// judgeDrivers requires that every NVIDIADriver of these nodes is ready, that exactly one selects each node of the
// inventory, and that its own pod, and no other driver's, is ready there. A node with a driver of its host needs
// neither.
func (g *Gate) judgeDrivers(b *check.Builder, o check.Observation, f driverFigures) {
	if len(f.Drivers) == 0 {
		message := "the cluster has no NVIDIADriver, and ClusterPolicy %s leaves the driver to them (driver.useNvidiaDriverCRD)"
		if !f.Served {
			message = "the API server does not serve nvidiadrivers.nvidia.com, and ClusterPolicy %s leaves the driver to NVIDIADrivers (driver.useNvidiaDriverCRD)"
		}
		b.Fail(o.ID, kindNVIDIADriver, "create an NVIDIADriver for every pool of GPU nodes, or set driver.nvidiaDriverCRD.enabled=false in the chart's values", message, g.stack.ClusterPolicy)
		return
	}
	for _, d := range f.Drivers {
		if slices.ContainsFunc(g.nodes, func(node string) bool { return slices.Contains(f.Selected[node], d.Name) }) {
			g.judgeDriver(b, o, d)
		} else {
			b.Note(o.ID, kindNVIDIADriver+" "+d.Name, "", "selects no node of the inventory, and was not judged; its state is %q", d.State)
		}
	}
	good := 0
	for _, node := range g.nodes {
		if g.judgeDriverOn(b, o, f, node) {
			good++
		}
	}
	b.Figure(check.Figure{
		Name: "nodes with the driver of one NVIDIADriver", Value: float64(good), Unit: "nodes", Limit: float64(len(g.nodes)), Relation: "==", Source: "site inventory",
	})
}

// judgeDriversOfCluster judges NVIDIADrivers next to a GPUCluster, which installs no driver: without any, the hosts have it.
func (g *Gate) judgeDriversOfCluster(b *check.Builder, obs []check.Observation) (remark string) {
	drivers, o, ok := check.Require[driverFigures](b, obs, kindDrivers, "", "the NVIDIADrivers", readRemedy(obs, kindDrivers))
	if ok && len(drivers.Drivers) == 0 {
		return "; there is no NVIDIADriver: the driver is that of the hosts"
	}
	if ok {
		g.judgeDrivers(b, o, drivers)
	}
	return ""
}

func (g *Gate) judgeDriver(b *check.Builder, o check.Observation, d nvidiaDriver) {
	suspect := kindNVIDIADriver + " " + d.Name
	condition := func(kind string) policyCondition {
		if i := slices.IndexFunc(d.Conditions, func(c policyCondition) bool { return c.Type == kind }); i >= 0 {
			return d.Conditions[i]
		}
		return policyCondition{Type: kind}
	}
	ready, failed := condition("Ready"), condition("Error")
	switch {
	case d.Deleting:
		b.Fail(o.ID, suspect, "wait until it is deleted, and let another NVIDIADriver select its nodes", "is being deleted")
	case failed.Reason == "ConflictingNodeSelector" && failed.Status == "True":
		b.Fail(o.ID, suspect, remedySelector, "the operator refuses it: %s", failed.Message)
	case d.State == "" && len(d.Conditions) == 0:
		b.Fail(o.ID, suspect, "read the log of the gpu-operator pod in "+g.stack.Namespace, "has no status: the operator has not reconciled it")
	case d.State != "ready" || ready.Status != "True" || ready.Reason != reconciled:
		why := strings.TrimSpace(failed.Reason + ": " + failed.Message)
		if failed.Status != "True" {
			why = ready.Message
		}
		b.Fail(o.ID, suspect, "check its driver pods in namespace "+g.stack.Namespace+", and the log of the gpu-operator pod", "state is %q, Ready=%s with reason %s: %s", d.State, ready.Status, ready.Reason, why)
	}
}

// judgeDriverOn reports whether a node has the driver of the one NVIDIADriver that selects it.
func (g *Gate) judgeDriverOn(b *check.Builder, o check.Observation, f driverFigures, node string) bool {
	suspect := node + "/nvidia driver"
	selected, seen := f.Selected[node]
	preInstalled := slices.Contains(f.PreInstalled, node)
	switch {
	case !seen:
		b.Unobserved(o.ID, suspect, "join the node to the cluster, or take it out of the inventory", "node %s is not in the cluster, so that no NVIDIADriver could be matched with it", node)
		return false
	case len(selected) == 0 && preInstalled:
		return true
	case len(selected) == 0:
		b.Fail(o.ID, suspect, remedySelector, "no NVIDIADriver selects node %s: no driver is installed there; there are %s", node, f.describe())
		return false
	case len(selected) > 1:
		b.Fail(o.ID, suspect, remedySelector, "NVIDIADrivers %s select node %s: each node must have one driver", strings.Join(selected, " and "), node)
		return false
	}
	own, good := kindNVIDIADriver+"/"+selected[0], false
	before := b.Failures()
	for _, p := range f.Pods {
		switch {
		case p.Node != node:
		case p.Owner != own:
			b.Fail(o.ID, suspect, "delete the DaemonSet of the other owner", "pod %s of DaemonSet %s on %s is of %s, and %s selects the node", p.Pod, p.DaemonSet, node, p.owner(), own)
		case !p.Ready:
			b.Fail(o.ID, suspect, "kubectl -n "+g.stack.Namespace+" logs "+p.Pod+" --all-containers", "driver pod %s of %s is not ready: %s", p.Pod, own, p.Why)
		case p.Outdated:
			b.Fail(o.ID, suspect, "wait for the driver's upgrade (label "+labelUpgrade+"), or with automatic upgrades off delete the pod", "driver pod %s is of an older revision of DaemonSet %s: the driver on the node may be the previous one", p.Pod, p.DaemonSet)
		default:
			good = true
		}
	}
	if !good && !preInstalled && b.Failures() == before {
		b.Fail(o.ID, suspect, "check that the node tolerates the DaemonSet of the NVIDIADriver, and has its label "+labelDriver+"=true ("+driverPreInstalled+" where the host has its own driver)", "%s selects node %s and has no driver pod there", own, node)
	}
	return b.Failures() == before
}

func (p driverPod) owner() string {
	if p.Owner == "" {
		return "no owner"
	}
	return p.Owner
}

// describe lists the NVIDIADrivers with their selectors.
func (f driverFigures) describe() string {
	var out []string
	for _, d := range f.Drivers {
		var terms []string
		for _, key := range slices.Sorted(maps.Keys(d.Selector)) {
			terms = append(terms, key+"="+d.Selector[key])
		}
		out = append(out, d.Name+" ("+strings.Join(terms, ",")+")")
	}
	return strings.Join(out, ", ")
}
