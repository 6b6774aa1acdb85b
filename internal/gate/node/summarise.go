package node

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// summarise makes the headline figures.
func (g *Gate) summarise(v *verdict, hosts []*host) {
	p := g.profile
	nodes := float64(len(hosts))
	gpus := all(hosts)
	v.figure("GPUs", float64(len(gpus)), "GPUs", "==", nodes*p.Node.GPUs.Value, g.source("node.gpus", p.Node.GPUs)+", times the inventory")
	if worst, ok := extreme(gpus, slices.Min, func(c nvidia.GPU) *float64 { return whole(c.MaxSMClockMHz) }); ok {
		v.figure("lowest maximum SM clock", worst, "MHz", ">=", p.GPU.MaxSMClock.Value, g.source("gpu.maxSMClock", p.GPU.MaxSMClock))
	}
	if worst, ok := extreme(gpus, slices.Min, func(c nvidia.GPU) *float64 { return c.PowerLimitW }); ok {
		v.figure("lowest power limit", worst, "W", ">=", p.GPU.TDP.Value, g.source("gpu.tdp", p.GPU.TDP))
	}
	if worst, ok := extreme(gpus, slices.Max, func(c nvidia.GPU) *float64 { return c.TemperatureC }); ok {
		v.figure("hottest GPU", worst, "C", "", 0, "")
	}
	if worst, ok := extreme(gpus, slices.Max, uncorrectable); ok {
		v.figure("most uncorrectable ECC errors of a GPU", worst, "errors", "<=", 0, "ECC errors that are not corrected corrupt results")
	}
	if worst, ok := extreme(gpus, slices.Max, func(c nvidia.GPU) *float64 {
		if c.Remap == nil {
			return nil
		}
		return whole(c.Remap.UncorrectableRows)
	}); ok {
		v.figure("most remapped rows of a GPU", worst, "rows", "<=", p.Node.MaxRemappedRows.Value, g.source("node.maxRemappedRows", p.Node.MaxRemappedRows))
	}
	g.summariseLinks(v, hosts)
}

func (g *Gate) summariseLinks(v *verdict, hosts []*host) {
	p := g.profile
	nodes := float64(len(hosts))
	links, ports, passed, required := 0, 0, 0, 0
	for _, h := range hosts {
		for _, gpu := range h.links.fig.GPUs {
			for _, l := range gpu.Links {
				if l.Active {
					links++
				}
			}
		}
		for _, hca := range h.hcas.fig.HCAs {
			if slices.Contains(g.site.Fabric.HCAs, hca.Name) && len(hca.Ports) > 0 && hca.Ports[0].Up() && float64(hca.Ports[0].RateGbps) >= p.Fabric.Rate.Value {
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
	v.figure("NVLinks up", float64(links), "links", "==", nodes*p.Node.GPUs.Value*p.GPU.NVLinks.Value, g.source("gpu.nvlinks", p.GPU.NVLinks)+", times the GPUs of the inventory")
	if g.rails() {
		v.figure("HCAs active at rate", float64(ports), "ports", "==", nodes*float64(len(g.site.Fabric.HCAs)), "site fabric.hcas, times the inventory")
	}
	if required > 0 {
		v.figure("required diagnostics passed", float64(passed), "tests", "==", float64(required), "profile "+p.Name+" node.requiredDiagnostics, on each node that answered")
	}
}

// all are the GPUs of every host, from the last document of each.
func all(hosts []*host) []nvidia.GPU {
	var out []nvidia.GPU
	for _, h := range hosts {
		if doc, ok := h.latest(); ok {
			out = append(out, doc.log.GPUs...)
		}
	}
	return out
}

// extreme is the worst of a figure over the GPUs that have it.
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
