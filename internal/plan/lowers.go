package plan

import "github.com/firstlight/firstlight/internal/check"

// Lowers is a Check with thresholds that a site may lower. A pass lists the lowered ones.
type Lowers interface {
	check.Check
	// Lowered are the lowered thresholds, each with both values. It is pure, like Judge.
	Lowered() []string
}

// lowered adds the lowered thresholds to a pass.
func lowered(c check.Check, j check.Judgement) check.Judgement {
	if l, ok := c.(Lowers); ok && j.Verdict == check.Passed {
		j.Lowered = l.Lowered()
	}
	return j
}
