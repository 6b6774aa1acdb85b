package drivers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no nodes")
	}
	var a standing.Account
	devices, seen, ok := standing.Read[[]device](&a, obs, kindDevices)
	if ok {
		c.judgeDevices(&a, seen, devices)
	}
	if nodes, id, read := standing.Read[[]node](&a, obs, kindNodes); ok && read {
		c.judgeLabels(&a, id, devices, nodes)
	}
	if sets, id, ok := standing.Read[[]daemonSet](&a, obs, kindOperands); ok {
		judgeOperands(&a, id, sets)
	}
	return a.Judgement()
}

// ofNode are the versions that the devices of a node have: each once, and an empty one
// where a device has none.
func ofNode(devices []device, name string) (drivers, cudas []string, n int) {
	for _, d := range devices {
		if d.Node != name {
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

// judgeDevices: every device of every node says its versions through DRA, and they are
// one.
func (c *Check) judgeDevices(a *standing.Account, id string, devices []device) {
	const remedy = "install NVIDIA's DRA driver on every GPU node in a version that publishes driverVersion and cudaDriverVersion (chart nvidia-dra-driver-gpu)"
	var all []string
	good := 0
	for _, name := range c.nodes {
		drivers, cudas, n := ofNode(devices, name)
		switch {
		case n == 0:
			a.Lacks(id, name, "driver "+offer.Driver+" publishes no device of it", remedy)
		case slices.Contains(drivers, "") || slices.Contains(cudas, ""):
			a.Lacks(id, name, "a device has no attribute driverVersion or cudaDriverVersion", remedy)
		case len(drivers) > 1 || len(cudas) > 1:
			a.Lacks(id, name, fmt.Sprintf("its devices have several versions: driver %s, CUDA %s", strings.Join(drivers, ", "), strings.Join(cudas, ", ")), "restart the kubelet plugin of the DRA driver there: its slice is of two times")
		default:
			good++
			if v := "driver " + drivers[0] + " with CUDA " + cudas[0]; !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	a.Figure(check.Figure{Name: "nodes whose devices say their driver through DRA", Value: float64(good), Unit: "nodes", Limit: float64(len(c.nodes)), Relation: "==", Source: "the site's inventory"})
	switch {
	case len(all) > 1:
		a.Lacks(id, "nodes", "they run different drivers: "+strings.Join(all, "; "), "bring every node to one version of the driver")
	case good == len(c.nodes):
		a.Has("%s is an attribute of all %d devices of %d nodes", all[0], len(devices), good)
	}
}

// judgeLabels: a second witness says the same.
func (c *Check) judgeLabels(a *standing.Account, id string, devices []device, nodes []node) {
	agree, labelled, differ := 0, 0, false
	for _, name := range c.nodes {
		i := slices.IndexFunc(nodes, func(n node) bool { return n.Node == name })
		drivers, _, _ := ofNode(devices, name)
		if i >= 0 && nodes[i].Driver != "" {
			labelled++
		}
		switch {
		case i < 0:
			a.Lacks(id, name, "there is no such node", "correct the site's inventory")
		case nodes[i].Driver == "":
			a.Lacks(id, name, "it has no label "+labelDriver, "run GPU feature discovery on it")
		case len(drivers) != 1 || drivers[0] == "": // said already
		case plain(drivers[0]) != plain(nodes[i].Driver):
			differ = true
			a.Lacks(id, name, fmt.Sprintf("through DRA its driver is %s, by its label %s", drivers[0], nodes[i].Driver), "see which driver is loaded (nvidia-smi on the node), and restart what says another")
		default:
			agree++
		}
	}
	switch {
	case agree == len(c.nodes):
		a.Has("GPU feature discovery says the same of each")
	case labelled == len(c.nodes) && !differ:
		a.Has("GPU feature discovery's labels say the driver of all %d nodes", labelled)
	}
}

// plain is a version without the zeros that semantic versions may not begin parts with:
// 580.105.08 is 580.105.8.
func plain(version string) string {
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

// judgeOperands: something in the cluster installs and maintains them.
func judgeOperands(a *standing.Account, id string, sets []daemonSet) {
	var ready []string
	for _, s := range sets {
		if s.Desired == 0 || s.Ready != s.Desired {
			a.Lacks(id, "daemonset "+s.Name, fmt.Sprintf("it %s, and %d of %d of its pods are ready", s.Does, s.Ready, s.Desired), "see why its pods are not ready")
			continue
		}
		ready = append(ready, fmt.Sprintf("%s %s (%d of %d ready)", s.Name, s.Does, s.Ready, s.Desired))
	}
	if len(sets) == 0 {
		a.Lacks(id, "maintenance", "nothing known that installs, upgrades or verifies drivers runs in the cluster", "run the GPU Operator; where the nodes' image brings the driver, say in the product file how it is maintained")
	}
	if len(ready) > 0 {
		a.Has("%s", strings.Join(ready, ", "))
	}
}
