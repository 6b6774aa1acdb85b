package attest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Scope says, a line each, what keeps a run's verdict from being about the whole plan as
// walked on one day: what was selected, kept, not applicable or only recommended.
func (p Predicate) Scope() []string {
	var lines []string
	planned := p.Counts.Planned
	if p.Inputs.Only != "" {
		lines = append(lines, fmt.Sprintf("only %s was walked: %d of %d steps", p.Inputs.Only, planned-p.Counts.Without, planned))
	}
	if p.Inputs.From != "" {
		lines = append(lines, "walked from "+p.Inputs.From+" on")
	}
	var kept, recommended []string
	for _, s := range p.Steps {
		if s.KeptFrom != "" {
			kept = append(kept, s.Step+" (run "+s.KeptFrom+")")
		}
		if s.Recommended {
			recommended = append(recommended, s.Step)
		}
		if s.Verdict == check.NotApplicable {
			lines = append(lines, fmt.Sprintf("%s is not applicable: %s", s.Step, s.Reason))
		}
	}
	if len(kept) > 0 {
		lines = append(lines, "verdicts kept from earlier runs: "+strings.Join(kept, ", "))
	}
	if len(recommended) > 0 {
		lines = append(lines, "only recommended, no part of the verdict: "+strings.Join(recommended, ", "))
	}
	return slices.Clip(lines)
}
