package standing

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// Account is what was seen of a requirement's parts. The zero value says nothing yet.
type Account struct {
	has     []string
	lacks   []check.Finding
	unseen  []check.Finding
	figures []check.Figure
}

// Has says that a part was seen.
func (a *Account) Has(format string, args ...any) {
	a.has = append(a.has, fmt.Sprintf(format, args...))
}

// Figure adds headline numbers.
func (a *Account) Figure(figures ...check.Figure) { a.figures = append(a.figures, figures...) }

// Lacks says that a part was seen not to be there. id is the observation's.
func (a *Account) Lacks(id, suspect, message, remedy string) {
	a.lacks = append(a.lacks, finding(id, suspect, message, remedy))
}

// Unseen says that a part could not be seen.
func (a *Account) Unseen(id, suspect, message, remedy string) {
	a.unseen = append(a.unseen, finding(id, suspect, message, remedy))
}

// Judgement is passed (Implemented) where every part was seen, unobserved and partially
// shown where some were and others are lacking, failed (Not Implemented) where none was.
// Where a part could not be seen it is unobserved, and the requirement stays open.
func (a *Account) Judgement() check.Judgement {
	j := check.Judgement{Figures: a.figures, Findings: append(a.lacks, a.unseen...)}
	there, lacking := strings.Join(a.has, "; "), summary(a.lacks)
	switch {
	case len(a.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(a.unseen)
	case len(a.has) == 0 && len(a.lacks) == 0:
		j.Verdict, j.Reason = check.Unobserved, "nothing was seen of it"
	case len(a.lacks) == 0:
		j.Verdict, j.Reason = check.Passed, there
	case len(a.has) > 0:
		j.Verdict, j.Reason = check.Unobserved, submission.PartlyShown+there+"; not "+lacking
	default:
		j.Verdict, j.Reason = check.Failed, lacking
	}
	return j
}

// Read decodes the only observation of a kind; where there is none that can be read, it
// is said to be unseen.
func Read[T any](a *Account, obs []check.Observation, kind string) (v T, id string, ok bool) {
	v, id, err := check.One[T](obs, kind)
	if err != nil {
		remedy := "make the API server reachable with this kubeconfig, then run the check again"
		if strings.Contains(err.Error(), "forbidden") {
			remedy = "give the user of this kubeconfig the role that firstlight validate rbac prints"
		}
		a.Unseen(id, strings.ReplaceAll(kind, "-", " "), err.Error(), remedy)
	}
	return v, id, err == nil
}

// summary names every finding: a reason of a standing is the note of a submission.
func summary(findings []check.Finding) string {
	var out []string
	for _, f := range findings {
		out = append(out, f.Suspect+": "+f.Message)
		if len(out) == mostNamed && len(findings) > mostNamed {
			out = append(out, fmt.Sprintf("and %d more", len(findings)-mostNamed))
			break
		}
	}
	return strings.Join(out, "; ")
}

// mostNamed bounds how many findings a reason names.
const mostNamed = 3

func finding(id, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if id != "" {
		f.Observations = []string{id}
	}
	return f
}
