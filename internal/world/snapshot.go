package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// draft is a State under construction and intermediate data.
type draft struct {
	State
	// idle has the GPUs of each node without load.
	idle [][]GPU
	// hot has the GPUs that throttle because of heat, with the start time; by node and GPU index.
	hot map[[2]int]time.Time
	// flaps has the links that flap, with start time and rate per second; by index in Links.
	flaps map[int]flap
	// frozenSM: the master does not sweep, so its activity count does not change. (A real one
	// counts its answers, which a State cannot.)
	frozenSM bool
}

type flap struct {
	since     time.Time
	perSecond float64
}

// draftAt computes the State at a time, as a draft. It reads no mutable data.
func (w *World) draftAt(now time.Time, faults []Fault, loads map[string]nodeLoad) draft {
	d := draft{hot: map[[2]int]time.Time{}, flaps: map[int]flap{}, State: State{
		Name: w.spec.Name, Seed: w.spec.Seed, Now: now, Booted: w.made.Add(-26 * time.Hour), Hardware: w.hw,
		Nodes: cloneNodes(w.nodes), Switches: slices.Clone(w.topology.Switches),
		Links: slices.Clone(w.topology.Links), SMs: slices.Clone(w.topology.SMs),
		Training:  Training{MFUFactor: 1, CheckpointGiB: w.hw.Storage.FreeGiB},
		Inference: Inference{TTFTFactor: 1, TPOTFactor: 1},
		Facility:  w.facility, Distribution: w.spec.Distribution,
	}}
	d.Facility.PDUs = slices.Clone(w.facility.PDUs)
	for _, f := range faults {
		kind, ok := findKind(f.Kind)
		if !ok {
			continue // unreachable: AddFault has checked the kind
		}
		t, err := d.resolve(kind.TargetForm, f.Target)
		if err != nil {
			continue // unreachable: AddFault has resolved the target on the same hardware
		}
		kind.apply(&d, t, f)
	}
	d.fabricFigures(w.made)
	d.idle = make([][]GPU, len(d.Nodes))
	for n := range d.Nodes {
		d.idle[n] = d.Nodes[n].GPUs
		d.load(n, loads[d.Nodes[n].Name])
	}
	d.pduFigures()
	return d
}

func cloneNodes(base []Node) []Node {
	nodes := slices.Clone(base)
	for i := range nodes {
		nodes[i].GPUs = slices.Clone(nodes[i].GPUs)
		for g := range nodes[i].GPUs {
			nodes[i].GPUs[g].NVLinkUp = slices.Clone(nodes[i].GPUs[g].NVLinkUp)
			nodes[i].GPUs[g].FabricHealth = maps.Clone(nodes[i].GPUs[g].FabricHealth)
		}
		nodes[i].HCAs = slices.Clone(nodes[i].HCAs)
		nodes[i].HCALinks = slices.Clone(nodes[i].HCALinks)
	}
	return nodes
}

// fabricFigures computes counters, HCAs and subnet managers from the links.
func (d *draft) fabricFigures(made time.Time) {
	elapsed := max(0, d.Now.Sub(made).Seconds())
	for i := range d.Links {
		l := &d.Links[i]
		for _, c := range []*fabric.Counters{&l.CountersA, &l.CountersB} {
			c.PortXmitData += uint64(elapsed * 1500)
			c.PortRcvData += uint64(elapsed * 1500)
			c.PortXmitPkts += uint64(elapsed * 20)
			c.PortRcvPkts += uint64(elapsed * 20)
		}
		if f, ok := d.flaps[i]; ok {
			n := uint64(max(0, d.Now.Sub(f.since).Seconds()) * f.perSecond)
			for _, c := range []*fabric.Counters{&l.CountersA, &l.CountersB} {
				c.LinkDownedCounter += 1 + n
				c.LinkErrorRecoveryCounter += 1 + n
				c.SymbolErrorCounter += 3 + 7*n
				c.PortXmitDiscards += 40 + 90*n
			}
		}
	}
	for i := range d.SMs {
		if d.SMs[i].State == fabric.SMMaster && !d.SMs[i].Silent && !d.frozenSM {
			// Ten sweeps a second, each of which sends a datagram to every switch.
			d.SMs[i].Activity += uint64(elapsed * 10 * float64(len(d.Switches)))
		}
	}
	for n := range d.Nodes {
		for h := range d.Nodes[n].HCAs {
			hca := &d.Nodes[n].HCAs[h]
			// fabric.Build creates the HCAs' links first, in HCA order.
			settleHCA(hca, d.Links[n*len(d.Nodes[n].HCAs)+h])
		}
	}
}

func settleHCA(h *fabric.HCA, l fabric.Link) {
	h.State, h.PhysState, h.Width, h.LaneGbps = l.State, l.PhysState, l.Width, l.LaneGbps
	h.LinkDowned = l.CountersA.LinkDownedCounter
	h.Rate = fabric.DataRate(l.LaneGbps) * l.Width
	if h.Ethernet.Netdev != "" {
		h.MTU, h.Ethernet.Counters = h.Ethernet.ActiveMTU(), l.CountersA
		if l.PhysState != fabric.PhysLinkUp {
			h.PhysState, h.Rate = fabric.PhysDisabled, 40 // values of an Ethernet port without a link
		}
		return
	}
	if l.PhysState != fabric.PhysLinkUp {
		h.Rate, h.LID, h.SMLID = 10, 65535, 0 // values of a port without a link
	}
}

// newFacility is the facility without faults. A limit that the spec leaves open is sufficient for the nodes.
func (w *World) newFacility() Facility {
	fs := w.spec.Facility
	watts, weight := 0.0, 0.0
	for _, n := range w.nodes {
		if !n.System {
			watts, weight = watts+n.Hardware.Node.MaxPowerWatts, weight+n.Hardware.Node.WeightKg
		}
	}
	f := Facility{
		SignedOff: true, SignedBy: fs.SignedBy, Role: fs.Role, Reference: fs.Reference, SignedAt: fs.SignedAt, Expires: fs.Expires,
		PowerKW: fs.PowerKW, CoolingKW: fs.CoolingKW, WeightKg: fs.WeightKg,
	}
	if f.SignedBy == "" {
		f.SignedBy, f.Role, f.Reference = "firstlight lab", "simulated facility", "LAB-"+w.spec.Name
	}
	if f.SignedAt.IsZero() {
		f.SignedAt = w.made.AddDate(0, 0, -7)
	}
	if f.Expires.IsZero() {
		f.Expires = w.made.AddDate(0, 6, 0)
	}
	f.PowerKW = cmp.Or(f.PowerKW, watts/1000*1.25)
	f.CoolingKW = cmp.Or(f.CoolingKW, watts/1000*1.25)
	f.WeightKg = cmp.Or(f.WeightKg, weight*1.25)
	racks := map[string]bool{}
	for _, n := range w.spec.GPUNodes {
		if racks[n.Rack] {
			continue
		}
		racks[n.Rack] = true
		for _, feed := range []string{"A", "B"} {
			f.PDUs = append(f.PDUs, PDU{ID: fmt.Sprintf("pdu-%s-%s", n.Rack, map[string]string{"A": "a", "B": "b"}[feed]), Rack: n.Rack, Feed: feed, Energised: true})
		}
	}
	return f
}
