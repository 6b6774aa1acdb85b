package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// review collects what is wrong with one job, and what could not be seen.
type review struct {
	gate   *Gate
	id     string
	f      Figures
	place  place
	failed []check.Finding
	unseen []check.Finding
	// named says that a finding names a node, so that nobody needs to be looked for.
	named bool
	// searchable says that something is wrong that pairs of nodes may explain.
	searchable bool
}

// reviewRun looks at everything but the bandwidth's culprit.
func (g *Gate) reviewRun(id string, f Figures) *review {
	r := &review{gate: g, id: id, f: f, place: f.where()}
	r.completeness()
	r.data()
	r.ratio()
	r.devices()
	r.transports()
	r.nvls()
	r.bandwidth()
	return r
}

// fail adds something wrong that has no node of its own.
func (r *review) fail(suspect, remedy, format string, args ...any) {
	r.failed = append(r.failed, r.finding(suspect, remedy, fmt.Sprintf(format, args...)))
}

// blame adds something wrong with a node or a part of one.
func (r *review) blame(suspect, remedy, format string, args ...any) {
	r.named = true
	r.fail(suspect, remedy, format, args...)
}

func (r *review) blind(suspect, remedy, format string, args ...any) {
	r.unseen = append(r.unseen, r.finding(suspect, remedy, fmt.Sprintf(format, args...)))
}

func (r *review) finding(suspect, remedy, message string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if r.id != "" {
		f.Observations = []string{r.id}
	}
	return f
}

// expectedRanks is how many GPUs take part.
func (r *review) expectedRanks() int { return len(r.f.Nodes) * r.f.GPUsPerNode }

// launcher names the pod whose log is read.
func (r *review) launcher() string {
	for _, p := range r.f.Outcome.Pods {
		if p.Index == 0 {
			return fmt.Sprintf("pod %s/%s", r.f.Outcome.Namespace, p.Pod)
		}
	}
	return "job " + r.f.Job
}
