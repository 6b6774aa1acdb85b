package profile

import (
	"fmt"
	"math"
)

// CeilingFor returns the row for a node count.
//
// Between two rows it is the lower one of both, because the counts between them were not
// measured. Beyond the largest row it is that row less ScaleLoss for each doubling, if nodes
// are on a fabric. ok is false below the smallest count of the profile, and beyond the largest
// one of nodes without a fabric: nothing connects more of them.
func (p *Profile) CeilingFor(nodes int) (Ceiling, bool) {
	var below, above Ceiling
	for _, row := range p.Collective.Ceilings {
		if row.Nodes <= nodes && row.Nodes > below.Nodes {
			below = row
		}
		if row.Nodes >= nodes && (above.Nodes == 0 || row.Nodes < above.Nodes) {
			above = row
		}
	}
	switch {
	case below.Nodes == 0:
		return Ceiling{}, false
	case above.Nodes == 0:
		return p.beyond(below, nodes)
	case above.Busbw.Value < below.Busbw.Value:
		return above, true
	}
	return below, true
}

// beyond is the row of more nodes than the largest row, last, has.
func (p *Profile) beyond(last Ceiling, nodes int) (Ceiling, bool) {
	if !p.Rails() {
		return Ceiling{}, false
	}
	loss := p.Collective.ScaleLoss
	if loss == nil {
		return last, true
	}
	doublings := math.Log2(float64(nodes) / float64(last.Nodes))
	row := last
	row.Nodes = nodes
	row.Busbw.Value = last.Busbw.Value * math.Pow(1-loss.Value, doublings)
	row.Busbw.Source = fmt.Sprintf("rule: the %g %s of %d nodes less %g %% for each doubling of nodes; %s", last.Busbw.Value, last.Busbw.Unit, last.Nodes, 100*loss.Value, last.Busbw.Source)
	return row, true
}

// Plausible is the highest busbw that the hardware can show, in GB/s: the highest ceiling plus
// the tolerance of a pass, or the rate of its links where every ceiling is a class floor.
func (p *Profile) Plausible() float64 {
	highest := 0.0
	for _, row := range p.Collective.Ceilings {
		if !row.ClassFloor {
			highest = max(highest, row.Busbw.Value)
		}
	}
	if highest == 0 {
		const bits = 8
		highest = max(p.GPU.NVLinks.Value*p.GPU.NVLinkRate.Value, p.Node.HCAs.Value*p.Fabric.Rate.Value/bits)
	}
	return highest * (2 - p.Collective.MinFraction.Value)
}

// Limit is the least busbw that passes, in GB/s, with the row that it comes from.
func (p *Profile) Limit(nodes int) (gbps float64, row Ceiling, ok bool) {
	row, ok = p.CeilingFor(nodes)
	if row.ClassFloor {
		return row.Busbw.Value, row, ok
	}
	return p.Collective.MinFraction.Value * row.Busbw.Value, row, ok
}
