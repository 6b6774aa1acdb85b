package node

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// slots numbers GPUs by their bus ID. nvidia-smi numbers only the GPUs that it can open, so a
// lost GPU shifts the later numbers; the bus IDs of complete hosts of the same hardware give
// the true number.
type slots struct {
	byBus map[string]int
	buses []string
}

// newSlots uses the list of bus IDs that most complete hosts have.
func newSlots(hosts []*host, gpus int) slots {
	votes := map[string]int{}
	for _, h := range hosts {
		doc, ok := h.latest()
		if !ok || len(doc.log.GPUs) != gpus {
			continue
		}
		votes[strings.Join(busIDs(doc.log), " ")]++
	}
	s := slots{byBus: map[string]int{}, buses: strings.Fields(most(votes))}
	for i, b := range s.buses {
		s.byBus[b] = i
	}
	return s
}

func busIDs(log *nvidia.SMILog) []string {
	var out []string
	for _, g := range log.GPUs {
		out = append(out, g.BusID)
	}
	return out
}

// gpu is the suspect of the GPU at a bus ID: "gpu-02/gpu3", or the host for an unknown bus ID.
func (s slots) gpu(h *host, bus string) string {
	if i, ok := s.byBus[bus]; ok {
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

// diagnosed is the suspect of the GPU with DCGM's number id, found by its serial number if
// reported.
func (s slots) diagnosed(h *host, id int) string {
	serial := h.diag.fig.Diag.Serials[id]
	if doc, ok := h.latest(); ok && serial != "" {
		for _, g := range doc.log.GPUs {
			if g.Serial == serial {
				return s.gpu(h, g.BusID)
			}
		}
	}
	return fmt.Sprintf("%s/gpu%d", h.name, id)
}

// missing are the bus IDs of a complete host that a document does not have.
func (s slots) missing(log *nvidia.SMILog) []string {
	has := map[string]bool{}
	for _, b := range busIDs(log) {
		has[b] = true
	}
	var out []string
	for _, b := range s.buses {
		if !has[b] {
			out = append(out, b)
		}
	}
	return out
}

// most is the key with the most votes; of equals, the smallest.
func most(votes map[string]int) string {
	best := ""
	for key, n := range votes {
		if best == "" || n > votes[best] || (n == votes[best] && key < best) {
			best = key
		}
	}
	return best
}
