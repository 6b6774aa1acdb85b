package matrix

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
)

// Rules lists the rules of Parse.
func Rules() []diag.Rule {
	return []diag.Rule{rulePrevious, ruleNothing, ruleLimit, ruleReleases, ruleText}
}

// Outcomes returns the known outcomes.
func Outcomes() []Outcome { return slices.Clone(order) }
