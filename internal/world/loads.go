package world

import (
	"cmp"
	"slices"
)

// nodeLoad is what uses the GPUs of a node.
type nodeLoad struct {
	claims []claim // by the UID of their pods
	// exercised: a diagnostic loads all GPUs.
	exercised bool
}

// loads returns the loads of some nodes, or those of all nodes that have one. It requires w.mu.
func (w *World) loads(of map[string]bool) map[string]nodeLoad {
	out := map[string]nodeLoad{}
	for node := range of {
		out[node] = nodeLoad{}
	}
	wanted := func(node string) bool { return of == nil || of[node] }
	for _, c := range w.claims {
		if wanted(c.node) {
			l := out[c.node]
			l.claims = append(l.claims, c)
			out[c.node] = l
		}
	}
	for node, n := range w.exercised {
		if n > 0 && wanted(node) {
			l := out[node]
			l.exercised = true
			out[node] = l
		}
	}
	for _, l := range out {
		slices.SortFunc(l.claims, func(a, b claim) int { return cmp.Compare(a.pod.UID, b.pod.UID) })
	}
	return out
}

// reloaded returns the draft with the new loads of some nodes. The draft itself does not change.
func (d draft) reloaded(loads map[string]nodeLoad) draft {
	d.Nodes = slices.Clone(d.Nodes)
	for n := range d.Nodes {
		if l, ok := loads[d.Nodes[n].Name]; ok {
			d.load(n, l)
		}
	}
	d.Facility.PDUs = slices.Clone(d.Facility.PDUs)
	d.pduFigures()
	return d
}

// load computes the GPUs of a node under its load. A lost GPU keeps its occupant without load.
func (d *draft) load(n int, l nodeLoad) {
	gpus := slices.Clone(d.idle[n])
	d.Nodes[n].GPUs = gpus
	for _, c := range l.claims {
		for _, i := range c.gpus() {
			g := &gpus[i]
			g.Occupant, g.Util, g.MemUsedMiB = c.pod, c.load.Util, c.load.MemMiB
			g.Power = c.load.PowerFrac // a fraction until gpuFigures converts it to watts
		}
	}
	if l.exercised {
		for i := range gpus {
			gpus[i].Util, gpus[i].Power = 100, 0.9 // a fraction, as above
		}
	}
	d.gpuFigures(n)
}
