package telemetry

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// hints explain missing series. They do not affect the verdict.
type hints struct {
	targets []prom.Target
	// targetsRead is set if the targets were read.
	targetsRead bool
	last        lastFigures
}

// hintsIn returns the hints recorded with incomplete series.
func hintsIn(obs []check.Observation) hints {
	var h hints
	for _, o := range check.OfKind(obs, kindTargets) {
		if f, err := check.Decode[targetFigures](o); err == nil {
			h.targets, h.targetsRead = f.Targets, true
		}
	}
	for _, o := range check.OfKind(obs, kindLastSamples) {
		if f, err := check.Decode[lastFigures](o); err == nil {
			h.last = f
		}
	}
	return h
}

// lastNote is the age of a node's last sample.
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
	return fmt.Sprintf("; its last sample is %s old, the maximum is %s", f.Now.Sub(at).Round(time.Millisecond), g.maxAge)
}

// target describes the scrape targets of a node, or of all exporters if node is "".
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
		if h.targetsRead && node != "" {
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
