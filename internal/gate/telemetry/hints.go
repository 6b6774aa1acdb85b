package telemetry

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// hints explain what is missing; none are needed to see that it is.
type hints struct {
	targets []prom.Target
	// looked says that the targets were read, so that none is none.
	looked bool
	last   lastFigures
}

// hintsIn takes what was recorded beside incomplete series.
func hintsIn(obs []check.Observation) hints {
	var h hints
	for _, o := range check.OfKind(obs, kindTargets) {
		if f, err := check.Decode[targetFigures](o); err == nil {
			h.targets, h.looked = f.Targets, true
		}
	}
	for _, o := range check.OfKind(obs, kindLastSamples) {
		if f, err := check.Decode[lastFigures](o); err == nil {
			h.last = f
		}
	}
	return h
}

// lastNote says when the last sample of a node was taken.
func (g *Gate) lastNote(f lastFigures, node string) string {
	var at time.Time
	for _, l := range f.Last {
		if (g.host(l.Host) == node || strings.EqualFold(l.Node, node)) && l.At.After(at) {
			at = l.At
		}
	}
	if at.IsZero() {
		return ""
	}
	return fmt.Sprintf("; its last sample is %s old, %s is the most", f.Now.Sub(at).Round(time.Millisecond), g.maxAge)
}

// target says what Prometheus says about the scrape target of a node, or
// about exporters at large when node is empty.
func (h hints) target(node string) string {
	var notes []string
	for _, t := range h.targets {
		if node != "" && !mentions(t, node) {
			continue
		}
		note := fmt.Sprintf("its target %s is %s", t.ScrapeURL, t.Health)
		if t.LastError != "" {
			note += ": " + t.LastError
		}
		notes = append(notes, note)
	}
	if len(notes) == 0 {
		if h.looked && node != "" {
			return "; Prometheus has no target on it"
		}
		return ""
	}
	return "; " + strings.Join(notes, "; ")
}

func mentions(t prom.Target, node string) bool {
	for _, v := range t.Labels {
		if strings.EqualFold(v, node) {
			return true
		}
	}
	return false
}
