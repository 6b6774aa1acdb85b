package recommended

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// timeout for a pod to be placed and to run: shorter than that of the required checks,
// which run before and have pulled the image.
const timeout = 2 * time.Minute

// maxNamed limits how many findings a reason names.
const maxNamed = 3

// noInventory is the judgement without a node to look at.
func noInventory() check.Judgement {
	return check.NotObserved("the site's inventory has no nodes")
}

// assessment collects which parts of a requirement are met.
type assessment struct {
	parts   []string
	missing []check.Finding
	open    []check.Finding
	figures []check.Figure
}

func (a *assessment) met(format string, args ...any) {
	a.parts = append(a.parts, fmt.Sprintf(format, args...))
}

func (a *assessment) figure(figures ...check.Figure) { a.figures = append(a.figures, figures...) }

// unmet adds a part that was observed to be missing. id is the observation's.
func (a *assessment) unmet(id, suspect, remedy, format string, args ...any) {
	a.missing = append(a.missing, check.NewFinding(id, suspect, remedy, format, args...))
}

// unknown adds a part that could not be observed.
func (a *assessment) unknown(id, suspect, remedy, format string, args ...any) {
	a.open = append(a.open, check.NewFinding(id, suspect, remedy, format, args...))
}

// judgement is unobserved where a part is unknown, passed (Implemented) where every part is
// met, unobserved and partially shown where some parts are met, else failed (Not Implemented).
func (a *assessment) judgement() check.Judgement {
	j := check.Judgement{Figures: a.figures, Findings: append(a.missing, a.open...)}
	met, missing := strings.Join(a.parts, "; "), summary(a.missing)
	switch {
	case len(a.open) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(a.open)
	case len(a.parts) == 0 && len(a.missing) == 0:
		j.Verdict, j.Reason = check.Unobserved, "nothing was observed"
	case len(a.missing) == 0:
		j.Verdict, j.Reason = check.Passed, met
	case len(a.parts) > 0:
		j.Verdict, j.Reason = check.Unobserved, submission.PartlyShown+met+"; not "+missing
	default:
		j.Verdict, j.Reason = check.Failed, missing
	}
	return j
}

// require decodes the only observation of a kind and target ("" is any); without one the
// part is unknown.
func require[T any](a *assessment, obs []check.Observation, kind, target string) (v T, id string, ok bool) {
	var b check.Builder
	v, id, ok = conformance.Require[T](&b, obs, kind, target)
	a.open = append(a.open, b.Judgement("").Findings...)
	return v, id, ok
}

// requireOffers decodes what each node of the inventory offers; without a node it is unknown.
func requireOffers[T any](a *assessment, obs []check.Observation, kind string) (offers []T, id string, ok bool) {
	offers, id, ok = require[[]T](a, obs, kind, "")
	if ok && len(offers) == 0 {
		a.unknown(id, "nodes", "correct the site's inventory", "no node of the inventory was found")
		return nil, id, false
	}
	return offers, id, ok
}

// summary names up to maxNamed findings: a reason becomes the note of a submission.
func summary(findings []check.Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Suspect+": "+f.Message)
		if len(out) == maxNamed && len(findings) > maxNamed {
			out = append(out, fmt.Sprintf("and %d more", len(findings)-maxNamed))
			break
		}
	}
	return strings.Join(out, "; ")
}
