package node

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// summarise adds the headline figures.
func (g *Gate) summarise(b *check.Builder, hosts []*host) {
	p := g.profile
	nodes := float64(len(hosts))
	gpus := all(hosts)
	b.Figure(check.Figure{Name: "GPUs", Value: float64(len(gpus)), Unit: "GPUs", Relation: "==", Limit: nodes * p.Node.GPUs.Value, Source: g.source("node.gpus", p.Node.GPUs) + ", times the inventory"})
	if worst, ok := extreme(gpus, slices.Min, func(c nvidia.GPU) *float64 { return whole(c.MaxSMClockMHz) }); ok {
		b.Figure(check.Figure{Name: "lowest maximum SM clock", Value: worst, Unit: "MHz", Relation: ">=", Limit: p.GPU.MaxSMClock.Value, Source: g.source("gpu.maxSMClock", p.GPU.MaxSMClock)})
	}
	if worst, ok := extreme(gpus, slices.Min, func(c nvidia.GPU) *float64 { return c.PowerLimitW }); ok {
		b.Figure(check.Figure{Name: "lowest power limit", Value: worst, Unit: "W", Relation: ">=", Limit: p.GPU.TDP.Value, Source: g.source("gpu.tdp", p.GPU.TDP)})
	}
	if worst, ok := extreme(gpus, slices.Max, func(c nvidia.GPU) *float64 { return c.TemperatureC }); ok {
		b.Figure(check.Figure{Name: "hottest GPU", Value: worst, Unit: "C", Relation: "<=", Limit: p.GPU.SlowdownTmp.Value, Source: g.source("gpu.slowdownTemp", p.GPU.SlowdownTmp)})
	}
	if worst, ok := extreme(gpus, slices.Max, uncorrectable); ok {
		b.Figure(check.Figure{Name: "most uncorrectable ECC errors of a GPU", Value: worst, Unit: "errors", Relation: "<=", Limit: 0, Source: "uncorrected ECC errors corrupt results"})
	}
	if worst, ok := extreme(gpus, slices.Max, func(c nvidia.GPU) *float64 {
		if c.Remap == nil {
			return nil
		}
		return whole(c.Remap.UncorrectableRows)
	}); ok {
		b.Figure(check.Figure{Name: "most remapped rows of a GPU", Value: worst, Unit: "rows", Relation: "<=", Limit: p.Node.MaxRemappedRows.Value, Source: g.source("node.maxRemappedRows", p.Node.MaxRemappedRows)})
	}
	g.summariseLinks(b, hosts)
}

func (g *Gate) summariseLinks(b *check.Builder, hosts []*host) {
	p := g.profile
	nodes := float64(len(hosts))
	links, off, ports, passed, required := 0, 0, 0, 0, 0
	for _, h := range hosts {
		for _, gpu := range h.links.fig.GPUs {
			if g.linksOff(h, gpu) {
				off++
			}
			for _, l := range gpu.Links {
				if l.Active {
					links++
				}
			}
		}
		for _, hca := range h.hcas.fig.HCAs {
			port, ok := portOnFabric(hca)
			if ok && slices.Contains(g.site.Fabric.HCAs, hca.Name) && port.Up() && float64(port.RateGbps) >= p.Fabric.Rate.Value {
				ports++
			}
		}
		if !h.diag.ok() {
			continue
		}
		names := p.Node.RequiredDiagnostics[strconv.Itoa(h.diag.fig.Diag.Major)]
		required += len(names)
		for _, t := range h.diag.fig.Diag.Tests {
			if t.Status == nvidia.DiagPass && slices.ContainsFunc(names, t.Is) {
				passed++
			}
		}
	}
	linked := ", times the GPUs of the inventory"
	if off > 0 {
		linked += fmt.Sprintf(" without %d in MIG mode, whose NVLinks are off", off)
	}
	b.Figure(check.Figure{Name: "NVLinks up", Value: float64(links), Unit: "links", Relation: "==", Limit: (nodes*p.Node.GPUs.Value - float64(off)) * p.GPU.NVLinks.Value, Source: g.source("gpu.nvlinks", p.GPU.NVLinks) + linked})
	if g.rails() {
		b.Figure(check.Figure{Name: "HCAs active at rate", Value: float64(ports), Unit: "ports", Relation: "==", Limit: nodes * float64(len(g.site.Fabric.HCAs)), Source: "site fabric.hcas, times the inventory"})
	}
	if required > 0 {
		b.Figure(check.Figure{Name: "required diagnostics passed", Value: float64(passed), Unit: "tests", Relation: "==", Limit: float64(required), Source: "profile " + p.Name + " node.requiredDiagnostics, on each observed node"})
	}
}

// all are the GPUs of every host, from its last document.
func all(hosts []*host) []nvidia.GPU {
	var out []nvidia.GPU
	for _, h := range hosts {
		if doc, ok := h.latest(); ok {
			out = append(out, doc.log.GPUs...)
		}
	}
	return out
}

// extreme is the worst value of a figure over the GPUs that report it.
func extreme(gpus []nvidia.GPU, pick func([]float64) float64, of func(nvidia.GPU) *float64) (float64, bool) {
	var values []float64
	for _, g := range gpus {
		if f := of(g); f != nil {
			values = append(values, *f)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return pick(values), true
}

func uncorrectable(c nvidia.GPU) *float64 {
	var total *float64
	for _, n := range []*int64{
		c.Volatile.SRAMUncorrectable, c.Volatile.DRAMUncorrectable, c.Aggregate.SRAMUncorrectable, c.Aggregate.DRAMUncorrectable,
	} {
		if n != nil && (total == nil || float64(*n) > *total) {
			f := float64(*n)
			total = &f
		}
	}
	return total
}

func whole(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
