package node

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// places numbers GPUs by where they sit. nvidia-smi counts those it can open, so
// a lost GPU shifts the numbers behind it; the bus IDs of complete hosts of the
// same hardware tell the true place.
type places struct {
	byBus map[string]int
	buses []string
}

// newPlaces takes the list of bus IDs that most complete hosts have.
func newPlaces(hosts []*host, gpus int) places {
	votes := map[string]int{}
	for _, h := range hosts {
		doc, ok := h.latest()
		if !ok || len(doc.log.GPUs) != gpus {
			continue
		}
		votes[strings.Join(busIDs(doc.log), " ")]++
	}
	p := places{byBus: map[string]int{}}
	best := most(votes)
	if best == "" {
		return p
	}
	p.buses = strings.Fields(best)
	for i, b := range p.buses {
		p.byBus[b] = i
	}
	return p
}

func busIDs(log *nvidia.SMILog) []string {
	var out []string
	for _, g := range log.GPUs {
		out = append(out, g.BusID)
	}
	return out
}

// gpu is the suspect's name of the GPU at a bus ID: "gpu-02/gpu3"; just the
// host where the place is unknown.
func (p places) gpu(h *host, bus string) string {
	if i, ok := p.byBus[bus]; ok {
		return fmt.Sprintf("%s/gpu%d", h.name, i)
	}
	if doc, ok := h.latest(); ok {
		for _, g := range doc.log.GPUs {
			if g.BusID == bus {
				return fmt.Sprintf("%s/gpu%d", h.name, g.Index)
			}
		}
	}
	return h.name
}

// diagnosed is the suspect's name of the GPU that DCGM numbers id: found by its
// serial number where there is one.
func (p places) diagnosed(h *host, id int) string {
	serial := h.diag.fig.Diag.Serials[id]
	if doc, ok := h.latest(); ok && serial != "" {
		for _, g := range doc.log.GPUs {
			if g.Serial == serial {
				return p.gpu(h, g.BusID)
			}
		}
	}
	return fmt.Sprintf("%s/gpu%d", h.name, id)
}

// missing are the bus IDs of a complete host that a document lacks.
func (p places) missing(log *nvidia.SMILog) []string {
	has := map[string]bool{}
	for _, b := range busIDs(log) {
		has[b] = true
	}
	var out []string
	for _, b := range p.buses {
		if !has[b] {
			out = append(out, b)
		}
	}
	return out
}

// most is the key with the most votes; the smallest of equals.
func most(votes map[string]int) string {
	best := ""
	for key, n := range votes {
		if best == "" || n > votes[best] || (n == votes[best] && key < best) {
			best = key
		}
	}
	return best
}
