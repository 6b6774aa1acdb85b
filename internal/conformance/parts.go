package conformance

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Parts is a check.Builder for a criterion of several parts, each of which must be shown.
// The zero value is ready to use.
type Parts struct {
	check.Builder
	shown int
}

// Shown counts one part as shown, and adds its headline numbers.
func (p *Parts) Shown(figures ...check.Figure) {
	p.shown++
	p.Figure(figures...)
}

// Judgement passes for the given reason only if exactly want parts were shown and nothing
// failed or was unobserved.
func (p *Parts) Judgement(want int, passed string) check.Judgement {
	j := p.Builder.Judgement(passed)
	if p.Clean() && (want < 1 || p.shown != want) {
		j.Verdict, j.Reason = check.Unobserved, fmt.Sprintf("%d of %d parts were shown", p.shown, want)
	}
	return j
}

// Require is check.Require for what is read from the API server: the subject is kind and
// target, and the remedy follows from the error.
func Require[T any](b *check.Builder, obs []check.Observation, kind, target string) (v T, id string, ok bool) {
	v, o, ok := check.Require[T](b, obs, kind, target, subjectOf(kind, target), APIRemedy(obs, kind))
	return v, o.ID, ok
}

func subjectOf(kind, target string) string {
	return strings.TrimSpace(strings.ReplaceAll(kind, "-", " ") + " " + target)
}

// APIRemedy is the remedy for an observation of a kind that failed to read from the API
// server: more permissions where one was forbidden, else a reachable API server.
func APIRemedy(obs []check.Observation, kind string) string {
	for _, o := range check.OfKind(obs, kind) {
		if o.Forbidden() {
			return "grant the user of this kubeconfig the role that firstlight validate rbac prints"
		}
	}
	return "make the API server reachable with this kubeconfig, then run the check again"
}
