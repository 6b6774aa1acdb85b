package fabric

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// adapter is an HCA of the site with its host's output.
type adapter struct {
	name      string // "gpu-02/mlx5_3"
	rail      string // "mlx5_3"
	hca       infiniband.HCA
	ibstatObs check.Observation
	verbs
}

// verbs is the output of ibv_devinfo and sysfs for an adapter.
type verbs struct {
	verbsObs check.Observation
	// unobserved is set if the host has no output.
	unobserved bool
	// device is nil if ibv_devinfo does not list it.
	device *infiniband.Device
	// keys are the partition keys of its port; empty for an empty table.
	keys []string
}

// adapters are the adapters in ibstat's output, by node and then HCA of the site. judgePorts
// reports adapters that ibstat does not list; a host without ibv_devinfo output is reported
// here.
func (g *Gate) adapters(b *check.Builder, obs []check.Observation) []adapter {
	ibstats, verbs := byTarget(obs, kindPorts), byTarget(obs, kindVerbs)
	var out []adapter
	for _, n := range g.site.Inventory.Nodes {
		hcas, err := check.Decode[[]infiniband.HCA](ibstats[n.Name])
		if err != nil {
			continue
		}
		o, ok := verbs[n.Name]
		f, err := check.Decode[verbsFigures](o)
		switch {
		case !ok:
			b.Unobserved(o.ID, n.Name, remedySSH, "ibv_devinfo was not run on %s", n.Name)
		case err != nil:
			b.Unobserved(o.ID, n.Name, remedyVerbs, "%v", err)
		}
		for _, name := range g.site.Fabric.HCAs {
			i := slices.IndexFunc(hcas, func(a infiniband.HCA) bool { return a.Name == name })
			if i < 0 {
				continue
			}
			a := adapter{name: n.Name + "/" + name, rail: name, hca: hcas[i], ibstatObs: ibstats[n.Name], verbs: f.adapter(name)}
			a.verbsObs, a.unobserved = o, err != nil
			out = append(out, a)
		}
	}
	return out
}

const remedyVerbs = "install ibv_devinfo (ibverbs-utils, or the vendor's drivers), make /sys/class/infiniband readable, then run again: firstlight accept --from fabric"

func byTarget(obs []check.Observation, kind string) map[string]check.Observation {
	out := map[string]check.Observation{}
	for _, o := range check.OfKind(obs, kind) {
		out[o.Target] = o
	}
	return out
}

// adapter returns the details of one adapter.
func (f verbsFigures) adapter(name string) verbs {
	var out verbs
	for i, d := range f.Devices {
		if d.Name == name {
			out.device = &f.Devices[i]
		}
	}
	for _, t := range f.Tables {
		if t.Device == name && t.Port == firstPort {
			out.keys = t.Keys
		}
	}
	return out
}

// board is its board ID (PSID), "" if unknown.
func (a adapter) board() string {
	if a.device == nil {
		return ""
	}
	return a.device.Board
}

// active reports whether the adapter's port on the fabric is up.
func (a adapter) active() bool {
	return slices.ContainsFunc(a.hca.Ports, func(p infiniband.HCAPort) bool { return p.Number == firstPort && p.Up() })
}

// runsSM reports whether the port's subnet manager is on the port itself.
func (a adapter) runsSM() bool {
	return slices.ContainsFunc(a.hca.Ports, func(p infiniband.HCAPort) bool { return p.Number == firstPort && p.BaseLID == p.SMLID })
}

// mtu is the active MTU of the adapter's port in bytes.
func (a adapter) mtu() (int, error) {
	if a.device == nil {
		return 0, fmt.Errorf("ibv_devinfo does not list %s", a.name)
	}
	for _, p := range a.device.Ports {
		if p.Number == firstPort && p.State == infiniband.DevStateActive && p.ActiveMTU > 0 {
			return p.ActiveMTU, nil
		}
	}
	return 0, fmt.Errorf("ibv_devinfo shows no active port %d with an MTU on %s, ibstat shows it Active", firstPort, a.name)
}
