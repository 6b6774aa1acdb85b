package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// The collectives of nccl-tests that gate collective may run.
const (
	AllReduce     = "all-reduce"
	AllGather     = "all-gather"
	ReduceScatter = "reduce-scatter"
	AllToAll      = "all-to-all"
	SendRecv      = "sendrecv"
)

// CollectiveNames are the collectives in the order in which they run.
func CollectiveNames() []string {
	return []string{AllReduce, AllGather, ReduceScatter, AllToAll, SendRecv}
}

// Published are the published figures of one collective.
type Published struct {
	// Ceilings are busbw figures, each for its number of nodes only: unlike an all-reduce, the busbw
	// of the others depends on how much of the data crosses the network.
	Ceilings []Ceiling `yaml:"ceilings" json:"ceilings"`
}

// LimitOf is the least busbw of a collective that passes, in GB/s, with its row: Limit for an
// all-reduce, the published figure for this number of nodes, or else a class floor by rule.
func (p *Profile) LimitOf(collective string, nodes int) (gbps float64, row Ceiling, ok bool) {
	if collective == AllReduce {
		return p.Limit(nodes)
	}
	for _, row := range p.Collective.Suite[collective].Ceilings {
		switch {
		case row.Nodes != nodes:
		case row.ClassFloor:
			return row.Busbw.Value, row, true
		default:
			return p.Collective.MinFraction.Value * row.Busbw.Value, row, true
		}
	}
	links, known := p.linkRate(collective, nodes)
	part := p.Collective.SuiteFloor
	if !known || part == nil {
		return 0, Ceiling{}, false
	}
	row = Ceiling{Nodes: nodes, ClassFloor: true, Busbw: Figure{Unit: "GB/s", Value: part.Value * links.busbw}}
	row.Busbw.Source = fmt.Sprintf("%srule: %g %% of %.4g GB/s, %s; none is published for %s on %d nodes of this GPU and fabric (%s)",
		classFloor, 100*part.Value, links.busbw, links.of, collective, nodes, part.Source)
	return row.Busbw.Value, row, true
}

// PlausibleOf is the highest busbw of a collective that the links can show, in GB/s, with the tolerance
// of Plausible; ok is false if nothing connects the nodes.
func (p *Profile) PlausibleOf(collective string, nodes int) (gbps float64, ok bool) {
	if collective == AllReduce {
		return p.Plausible(), true
	}
	links, ok := p.linkRate(collective, nodes)
	most := max(links.most, links.busbw)
	for _, row := range p.Collective.Suite[collective].Ceilings {
		if row.Nodes == nodes {
			most = max(most, row.Busbw.Value)
		}
	}
	return most * (2 - p.Collective.MinFraction.Value), ok
}

// NetworkOf is the highest busbw of a collective, in GB/s, that the network between nodes can show without NVLink
// between them; ok is false without a network.
func (p *Profile) NetworkOf(collective string, nodes int) (gbps float64, ok bool) {
	alone := *p
	alone.Node.NVLinkDomain = &Figure{Value: 1}
	links, ok := alone.linkRate(collective, nodes)
	return links.most, ok && nodes > 1
}

// rate is what the links allow: busbw by the usual algorithm, and at most.
type rate struct {
	busbw, most float64
	of          string
}

// linkRate is the busbw of a collective, by its definition in nccl-tests' doc/PERFORMANCE.md, at the
// full rate of the slowest links that its data crosses. ok is false if nothing connects the nodes.
func (p *Profile) linkRate(collective string, nodes int) (r rate, ok bool) {
	const bits = 8
	gpus, domain := p.Node.GPUs.Value, 1
	if d := p.Node.NVLinkDomain; d != nil {
		domain = int(d.Value)
		r = rate{of: "the NVLinks of a GPU", busbw: p.GPU.NVLinks.Value * p.GPU.NVLinkRate.Value}
		r.most = r.busbw
	} else { // PCIe between some GPUs: a ring crosses it in every collective
		limit, row, known := p.Limit(1)
		if known {
			r = rate{busbw: limit, most: p.Plausible(), of: "the limit of an all-reduce in a node, whose rings cross the same links: " + row.Busbw.Source}
		}
	}
	if nodes < 1 || nodes > domain && !p.Rails() || nodes <= domain && r.busbw == 0 {
		return rate{}, false
	}
	if nodes <= domain {
		return r, true
	}
	network := p.Node.HCAs.Value * p.Fabric.Rate.Value / bits
	n, outside := gpus*float64(nodes), gpus*float64(nodes-domain)
	across := rate{busbw: network, most: network * (n - 1) / outside, of: fmt.Sprintf("the %g ports of a node", p.Node.HCAs.Value)}
	switch collective {
	case AllToAll: // each GPU sends outside/n of its data over its part of the node's ports
		across.busbw = network / gpus * (n - 1) / outside
		across.most = across.busbw
		across.of = fmt.Sprintf("a GPU's part of the ports of a node, (n-1)/%g of it for n = %g GPUs with %g outside of the node or NVLink domain", outside, n, outside)
	case SendRecv: // the last GPU of a node sends to the next node over its own ports
		across.busbw = network / min(gpus, p.Node.HCAs.Value)
		across.most = network
		across.of = "the ports of one GPU"
	}
	if r.busbw > 0 && r.busbw < across.busbw {
		across.busbw, across.of = r.busbw, r.of
	}
	if r.most > 0 {
		across.most = min(r.most, across.most)
	}
	across.most = max(across.most, across.busbw)
	return across, !math.IsNaN(across.busbw) && across.busbw > 0
}

// suiteProblems are collectives that are unknown or have contradictory rows.
func (p *Profile) suiteProblems() []error {
	var out []error
	for _, name := range slices.Sorted(maps.Keys(p.Collective.Suite)) {
		if name == AllReduce || !slices.Contains(CollectiveNames(), name) {
			out = append(out, fmt.Errorf("unknown collective.suite.%s: want one of %v; all-reduce has collective.ceilings", name, CollectiveNames()[1:]))
		}
		out = append(out, rows("collective.suite."+name+".ceilings", p.Collective.Suite[name].Ceilings)...)
	}
	return out
}
