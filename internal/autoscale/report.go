package autoscale

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Report is a chain as people look at it: its hops, and the paths up and down.
type Report struct {
	Setup snapshot.Setup
	Hops  []HopReport
	Paths []Path
}

// Path is the way up or down, from the mark that begins it.
type Path struct {
	Phase string
	Began time.Time
	Hops  []HopReport // those that happened
	// Whole: every hop of it happened, in Took.
	Whole bool
	Took  time.Duration
	// Worst is the sum of the hops' budgets.
	Worst time.Duration
	// Slowest is the setting with the largest share of it, in these hops; its name is
	// empty if no setting has a share.
	Slowest   snapshot.Setting
	SlowestIn []string
}

// NewReport judges the observations of a chain. It returns an error if they
// are not a chain.
func NewReport(obs []check.Observation) (Report, error) {
	w := fold(obs)
	if w.problem != "" {
		return Report{}, fmt.Errorf("report on the chain: %s", w.problem)
	}
	return w.report(), nil
}

func (w *decoded) report() Report {
	r := Report{Setup: w.setup, Hops: w.hops}
	for _, phase := range []string{snapshot.PhaseUp, snapshot.PhaseDown} {
		if p := w.pathOf(phase); len(p.Hops) > 0 {
			r.Paths = append(r.Paths, p)
		}
	}
	return r
}

func (w *decoded) pathOf(phase string) Path {
	p := Path{Phase: phase, Began: w.began(phase), Worst: w.worst(phase)}
	for _, h := range w.hops {
		if h.Phase == phase && h.Took != nil && !ends(h.Hop) {
			p.Hops = append(p.Hops, h)
		}
	}
	p.Took, p.Whole = w.path(phase)
	if !p.Whole && len(p.Hops) > 0 {
		p.Took = p.Hops[len(p.Hops)-1].At.Sub(p.Began)
	}
	p.Slowest, p.SlowestIn = slowest(phase, w.setup)
	return p
}

// offset is when a hop of the path began and ended, since the path did.
func (p Path) offset(h HopReport) (from, to time.Duration) {
	from = max(0, h.start.Sub(p.Began))
	return from, from + time.Duration(*h.Took*float64(time.Second))
}
