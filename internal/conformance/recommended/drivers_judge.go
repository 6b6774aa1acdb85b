package recommended

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

// Judge implements check.Check.
func (c *Drivers) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return noInventory()
	}
	var a assessment
	devices, id, ok := require[[]driverDevice](&a, obs, kindDriverDevices, "")
	if ok {
		c.judgeDevices(&a, id, devices)
	}
	if nodes, id, read := require[[]driverNode](&a, obs, kindDriverNodes, ""); ok && read {
		c.judgeLabels(&a, id, devices, nodes)
	}
	if sets, id, ok := require[[]daemonSet](&a, obs, kindDriverOperands, ""); ok {
		judgeOperands(&a, id, sets)
	}
	return a.judgement()
}

// versionsOf lists the distinct versions of a node's devices; "" for a device without one.
func versionsOf(devices []driverDevice, node string) (drivers, cudas []string, n int) {
	for _, d := range devices {
		if d.Node != node {
			continue
		}
		n++
		if !slices.Contains(drivers, d.Driver) {
			drivers = append(drivers, d.Driver)
		}
		if !slices.Contains(cudas, d.CUDA) {
			cudas = append(cudas, d.CUDA)
		}
	}
	return drivers, cudas, n
}

// judgeDevices requires versions of every device of every node, and that they are equal.
func (c *Drivers) judgeDevices(a *assessment, id string, devices []driverDevice) {
	const remedy = "install NVIDIA's DRA driver on every GPU node in a version that publishes driverVersion and cudaDriverVersion (chart nvidia-dra-driver-gpu)"
	var all []string
	good := 0
	for _, name := range c.nodes {
		drivers, cudas, n := versionsOf(devices, name)
		switch {
		case n == 0:
			a.unmet(id, name, remedy, "driver %s publishes no device of it", inventory.Driver)
		case slices.Contains(drivers, "") || slices.Contains(cudas, ""):
			a.unmet(id, name, remedy, "a device has no attribute driverVersion or cudaDriverVersion")
		case len(drivers) > 1 || len(cudas) > 1:
			a.unmet(id, name, "restart the kubelet plugin of the DRA driver on the node: its ResourceSlice is outdated",
				"its devices have several versions: driver %s, CUDA %s", strings.Join(drivers, ", "), strings.Join(cudas, ", "))
		default:
			good++
			if v := "driver " + drivers[0] + " with CUDA " + cudas[0]; !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	a.figure(check.Figure{Name: "nodes whose devices publish their driver version through DRA", Value: float64(good), Unit: "nodes", Limit: float64(len(c.nodes)), Relation: "==", Source: "the site's inventory"})
	switch {
	case len(all) > 1:
		a.unmet(id, "nodes", "upgrade every node to the same driver version", "they run different drivers: %s", strings.Join(all, "; "))
	case good == len(c.nodes):
		a.met("%s is an attribute of all %d devices of %d nodes", all[0], len(devices), good)
	}
}

// judgeLabels compares the versions with GPU feature discovery's labels, the second source.
func (c *Drivers) judgeLabels(a *assessment, id string, devices []driverDevice, nodes []driverNode) {
	agree, labelled, differ := 0, 0, false
	for _, name := range c.nodes {
		i := slices.IndexFunc(nodes, func(n driverNode) bool { return n.Node == name })
		drivers, _, _ := versionsOf(devices, name)
		if i >= 0 && nodes[i].Driver != "" {
			labelled++
		}
		switch {
		case i < 0:
			a.unmet(id, name, "correct the site's inventory", "node not found")
		case nodes[i].Driver == "":
			a.unmet(id, name, "run GPU feature discovery on it", "it has no label %s", labelDriver)
		case len(drivers) != 1 || drivers[0] == "": // reported by judgeDevices
		case normalVersion(drivers[0]) != normalVersion(nodes[i].Driver):
			differ = true
			a.unmet(id, name, "find the loaded driver with nvidia-smi on the node, and restart the component that reports another version",
				"its driver is %s by DRA and %s by its label", drivers[0], nodes[i].Driver)
		default:
			agree++
		}
	}
	switch {
	case agree == len(c.nodes):
		a.met("the labels of GPU feature discovery agree")
	case labelled == len(c.nodes) && !differ:
		a.met("the labels of GPU feature discovery give the driver of all %d nodes", labelled)
	}
}

// normalVersion removes leading zeros, which semantic versions forbid (580.105.08 is
// 580.105.8), and trailing parts that are zero.
func normalVersion(version string) string {
	parts := strings.Split(version, ".")
	for i, p := range parts {
		if p = strings.TrimLeft(p, "0"); p == "" {
			p = "0"
		}
		parts[i] = p
	}
	for len(parts) > 1 && parts[len(parts)-1] == "0" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

// judgeOperands requires a known DaemonSet, and all pods of each ready.
func judgeOperands(a *assessment, id string, sets []daemonSet) {
	var ready []string
	for _, s := range sets {
		if s.Desired == 0 || s.Ready != s.Desired {
			a.unmet(id, "daemonset "+s.Name, "see why its pods are not ready", "%d of %d of its pods are ready; it %s", s.Ready, s.Desired, s.Does)
			continue
		}
		ready = append(ready, fmt.Sprintf("%s %s (%d of %d ready)", s.Name, s.Does, s.Ready, s.Desired))
	}
	if len(sets) == 0 {
		a.unmet(id, "maintenance", "run the GPU Operator; where the node image brings the driver, document its maintenance in the product file",
			"no known DaemonSet installs, upgrades or verifies drivers")
	}
	if len(ready) > 0 {
		a.met("%s", strings.Join(ready, ", "))
	}
}
