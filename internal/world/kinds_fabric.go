package world

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

func fabricFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "link-down", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a cable is unplugged or dead", Suspect: `{link}`,
			apply: func(d *draft, t target, _ Fault) {
				l := &d.Links[t.link]
				l.State, l.PhysState, l.LaneGbps, l.Width = fabric.StateDown, fabric.PhysPolling, 0, 0
				for _, c := range []*fabric.Counters{&l.CountersA, &l.CountersB} {
					c.LinkDownedCounter++
				}
			},
		},
		{
			Kind: "link-degraded", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a link is up at half its rate or width",
			Options: []FaultOption{{Name: "how", Default: "rate", Values: []string{"rate", "width"}, Summary: "HDR instead of NDR, or 2 lanes instead of 4"}},
			Suspect: `{link}`,
			apply: func(d *draft, t target, f Fault) {
				l := &d.Links[t.link]
				if f.Options["how"] == "width" {
					l.Width /= 2
					return
				}
				l.LaneGbps /= 2
			},
		},
		{
			Kind: "link-flapping", Gate: "fabric", TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a link flaps; its counters grow",
			Options: []FaultOption{{Name: "per-second", Default: "8", Min: 0.1, Max: 1000, Summary: "times per second that it goes down"}},
			Suspect: `{link}`,
			apply: func(d *draft, t target, f Fault) {
				d.flaps[t.link] = flap{since: f.Since, perSecond: f.number("per-second")}
			},
		},
		{
			Kind: "link-ber", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormLink, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a transceiver or cable has a high bit error rate: the link stays up and an error counter grows",
			Options: []FaultOption{
				{Name: "counter", Default: "PortRcvRemotePhysicalErrors", Values: slices.Sorted(maps.Keys(berCounters)), Summary: "error counter that grows at both ends"},
				{Name: "per-second", Default: "400", Min: 0.1, Max: 100000, Summary: "errors per second"},
			},
			Suspect: `{link}`,
			apply: func(d *draft, t target, f Fault) {
				l := &d.Links[t.link]
				n := uint64(max(0, d.Now.Sub(f.Since).Seconds()) * f.number("per-second"))
				for _, c := range []*fabric.Counters{&l.CountersA, &l.CountersB} {
					*berCounters[f.Options["counter"]](c) += n
				}
			},
		},
		{
			Kind: "foreign-hosts", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "a UFM host and a storage server, whose link is at half its rate and has errors, are on the subnet; the lab's site does not name them",
			Suspect: `ufm-01/mlx5_0|storage-01/mlx5_0`,
			apply: func(d *draft, _ target, f Fault) {
				d.stranger("ufm-01", 0)
				l := d.stranger("storage-01", 1)
				l.LaneGbps /= 2
				l.CountersA.SymbolErrorCounter += uint64(max(0, d.Now.Sub(f.Since).Seconds()) * 100)
			},
		},
		{
			Kind: "rails-swapped", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the first two adapters of a node are cabled to each other's leaf", Suspect: `^{node}/`,
			apply: func(d *draft, t target, _ Fault) { d.swapCables(t.node, 0, t.node, 1) },
		},
		{
			Kind: "cables-swapped", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the cables of a node's first adapter and the next node's second adapter are swapped: each switch keeps its number of links", Suspect: `^{node}/`,
			apply: func(d *draft, t target, _ Fault) { d.swapCables(t.node, 0, (t.node+1)%len(d.GPUNodes()), 1) },
		},
		{
			Kind: "nic-firmware-mixed", Gate: "fabric", TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "an adapter has a different firmware from the others of its type", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) { d.hca(t).Firmware = d.Nodes[t.node].Hardware.Fabric.OtherFirmware },
		},
		{
			Kind: "mtu-mismatch", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "a port has a smaller active MTU than the others",
			Options: []FaultOption{{Name: "mtu", Default: "2048", Values: []string{"256", "512", "1024", "2048"}, Summary: "bytes"}},
			Suspect: `^{target}$`,
			apply:   func(d *draft, t target, f Fault) { d.hca(t).MTU = int(f.number("mtu")) },
		},
		{
			Kind: "pkey-missing", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "the subnet manager did not give a port the compute fabric's partition key", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) {
				h := d.hca(t)
				h.PKeys = h.PKeys[:len(h.PKeys)-1]
			},
		},
		{
			Kind: "guid-duplicate", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "an adapter has the GUID of another adapter, of the same name on another node or the next one of its node", Suspect: `^{target}$`,
			apply: func(d *draft, t target, _ Fault) { d.hca(t).GUID = d.other(t).GUID },
		},
		{
			Kind: "sm-dead", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "no subnet manager is working",
			Options: []FaultOption{{Name: "how", Default: "silent", Values: []string{"silent", "frozen", "uninitialised"}, Summary: "silent: it does not respond; frozen: its activity count does not change; uninitialised: it does not respond, and the links came up after it died"}},
			Suspect: `(?i)subnet manager|\bSM\b`,
			apply:   deadSM,
		},
		{
			Kind: "sm-two-masters", Gate: "fabric", Fabric: InfiniBand, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "two subnet managers both act as master; half the rails follow the second",
			Suspect: `(?i)subnet manager|\bSM\b`,
			apply:   twoMasters,
		},
		{
			Kind: "umad-module-missing", Gate: "fabric", Fabric: InfiniBand, Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-01",
			Summary: "the kernel module ib_umad is not loaded on the host that runs the fabric's tools", Suspect: `(?i)subnet|{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NoUMAD = true },
		},
	}
}

// berCounters are the error counters that can grow while a link stays up.
var berCounters = map[string]func(*fabric.Counters) *uint64{
	"PortRcvRemotePhysicalErrors":  func(c *fabric.Counters) *uint64 { return &c.PortRcvRemotePhysicalErrors },
	"LocalLinkIntegrityErrors":     func(c *fabric.Counters) *uint64 { return &c.LocalLinkIntegrityErrors },
	"ExcessiveBufferOverrunErrors": func(c *fabric.Counters) *uint64 { return &c.ExcessiveBufferOverrunErrors },
}

func (d *draft) hca(t target) *fabric.HCA { return &d.Nodes[t.node].HCAs[t.hca] }

// other returns the HCA with the target's name on the first other node, or another HCA of its
// node.
func (d *draft) other(t target) *fabric.HCA {
	k := t.hca
	for n := range d.GPUNodes() {
		if n != t.node {
			return &d.Nodes[n].HCAs[k]
		}
	}
	hcas := d.Nodes[t.node].HCAs
	return &hcas[(k+1)%len(hcas)]
}

// swapCables swaps the switch ports of two HCAs; the ports keep their counters.
func (d *draft) swapCables(nodeA, hcaA, nodeB, hcaB int) {
	per := len(d.Nodes[nodeA].HCAs)
	hcaA, hcaB = hcaA%per, hcaB%per
	a, b := &d.Links[nodeA*per+hcaA], &d.Links[nodeB*per+hcaB]
	a.B, b.B = b.B, a.B
	a.CountersB, b.CountersB = b.CountersB, a.CountersB
	d.Nodes[nodeA].HCAs[hcaA].Attached, d.Nodes[nodeB].HCAs[hcaB].Attached = a.B, b.B
}

func deadSM(d *draft, _ target, f Fault) {
	if f.Options["how"] == "frozen" {
		d.frozenSM = true // reports MASTER with a constant activity count
		return
	}
	for i := range d.SMs {
		d.SMs[i].Silent = true
	}
	if f.Options["how"] == "uninitialised" {
		for i := range d.Links {
			if d.Links[i].Up() {
				d.Links[i].State = fabric.StateInit
			}
		}
		for n := range d.Nodes {
			for h := range d.Nodes[n].HCAs {
				d.Nodes[n].HCAs[h].LID, d.Nodes[n].HCAs[h].SMLID = 0, 0 // assigned by a subnet manager
			}
		}
	}
}

func twoMasters(d *draft, _ target, _ Fault) {
	if len(d.SMs) < 2 {
		// With one spine, the second opensm runs on the first leaf.
		leaf := d.Switches[len(d.Switches)-1]
		d.SMs = append(d.SMs, fabric.SM{Node: leaf.Name, GUID: leaf.GUID, LID: leaf.LID, Activity: 777})
	}
	d.SMs[1].State, d.SMs[1].Priority = fabric.SMMaster, d.SMs[0].Priority
	for n := range d.Nodes {
		for h := range d.Nodes[n].HCAs {
			if d.Nodes[n].HCAs[h].Rail%2 == 1 {
				d.Nodes[n].HCAs[h].SMLID = d.SMs[1].LID
			}
		}
	}
}

// stranger connects the adapter of a host that is not the cluster's to the last port of a leaf.
func (d *draft) stranger(name string, n int) *fabric.Link {
	like, leaf := d.Nodes[0].HCAs[0], d.Switches[len(d.Switches)-1-n]
	h := like
	h.Node, h.Name, h.GUID, h.LID = name, "mlx5_0", like.GUID|0xff<<40+uint64(n), like.LID+0x4000+n //nolint:gosec // a few hosts
	d.Strangers = append(d.Strangers, h)
	l := d.Links[0]
	l.A, l.B = fabric.End{Node: name, Device: h.Name, Port: 1}, fabric.End{Node: leaf.Name, Port: leaf.Ports}
	l.State, l.PhysState, l.LaneGbps, l.Width = fabric.StateActive, fabric.PhysLinkUp, l.MaxLane, l.MaxWidth
	d.Strangers[len(d.Strangers)-1].Attached = l.B
	d.Links = append(d.Links, l)
	return &d.Links[len(d.Links)-1]
}
