package plan

import "github.com/firstlight/firstlight/internal/check"

// Lowers is a Check with demands that a site may set below a floor. A pass says which it has.
type Lowers interface {
	check.Check
	// Lowered are those demands, each with both values; pure, as Judge is.
	Lowered() []string
}

// lowered adds to a pass what was demanded less of.
func lowered(c check.Check, j check.Judgement) check.Judgement {
	if l, ok := c.(Lowers); ok && j.Verdict == check.Passed {
		j.Lowered = l.Lowered()
	}
	return j
}
