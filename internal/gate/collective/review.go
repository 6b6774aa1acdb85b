package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// review judges one job.
type review struct {
	check.Builder
	gate  *Gate
	id    string
	f     Figures
	place place
	// named is set if a finding names a node, so that no pairs need to be run.
	named bool
	// searchable is set if runs on pairs of nodes may explain a failure.
	searchable bool
}

// reviewRun applies every criterion to a run; it does not localise a low bandwidth.
func (g *Gate) reviewRun(id string, f Figures) *review {
	r := &review{gate: g, id: id, f: f, place: f.where()}
	if f.Scope == ScopeDomain && !f.Rotated {
		r.nvlink()
	}
	if r.apart() {
		return r
	}
	r.completeness()
	r.data()
	r.ports()
	if f.Rotated {
		r.claims()
		return r
	}
	r.ratio()
	r.devices()
	switch {
	case g.site.SingleNode():
		r.peers()
	case f.Scope != ScopeDomain:
		r.transports()
	}
	r.nvls()
	r.bandwidth()
	r.claims()
	return r
}

// claims requires the GPUs of a run that claims them.
func (r *review) claims() {
	before := r.Failures()
	if r.f.Outcome.Ended != gangjob.EndedNotRun {
		gangjob.JudgeClaims(&r.Builder, r.id, r.gate.site, r.f.Outcome.Claims, len(r.f.Nodes), r.f.GPUsPerNode)
	}
	r.named = r.named || r.Failures() > before
}

// blame adds a finding about a node or a part of one.
func (r *review) blame(suspect, remedy, format string, args ...any) {
	r.named = true
	r.Fail(r.id, suspect, remedy, format, args...)
}

// refuse adds a finding about an output that cannot be of the job: of an all-reduce it fails the gate, as
// in earlier versions; of another collective nothing was observed.
func (r *review) refuse(remedy, format string, args ...any) {
	if r.f.test().isAllReduce() {
		r.Fail(r.id, r.launcher(), remedy, format, args...)
		return
	}
	r.Unobserved(r.id, r.launcher(), remedy, format, args...)
}

// expectedRanks is the number of participating GPUs.
func (r *review) expectedRanks() int { return len(r.f.Nodes) * r.f.GPUsPerNode }

// launcher is the pod whose log is read.
func (r *review) launcher() string {
	for _, p := range r.f.Outcome.Pods {
		if p.Index == 0 {
			return fmt.Sprintf("pod %s/%s", r.f.Outcome.Namespace, p.Pod)
		}
	}
	return "job " + r.f.Job
}
