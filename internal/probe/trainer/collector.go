package trainer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Bounds of one log.
const (
	maxRanks    = 4096
	maxSteps    = 1 << 18
	maxProblems = 32
	maxFailures = 32
)

// collector gathers the ranks, failures and unreadable lines of one log, within the bounds.
type collector[R any] struct {
	ranks    map[int]*R
	newRank  func(rank int) *R
	steps    int
	failures []Failure
	problems []string
	clipped  bool
}

func newCollector[R any](newRank func(rank int) *R) collector[R] {
	return collector[R]{ranks: map[int]*R{}, newRank: newRank}
}

// failure adds the failure that a line reports, if any.
func (c *collector[R]) failure(l logline.Line) {
	f, ok := DetectFailure(l)
	switch {
	case !ok:
	case f.Kind == "exception" && len(c.failures) >= maxFailures/2: // a run may survive many
	case len(c.failures) < maxFailures:
		c.failures = append(c.failures, f)
	default:
		c.clipped = true
	}
}

// rank returns the entry of a rank; nil beyond maxRanks.
func (c *collector[R]) rank(n int) *R {
	r, ok := c.ranks[n]
	if !ok {
		if len(c.ranks) >= maxRanks {
			c.clipped = true
			return nil
		}
		r = c.newRank(n)
		c.ranks[n] = r
	}
	return r
}

// step counts a step, or adds the problem of its line. It reports whether to keep the step.
func (c *collector[R]) step(rank int, text string, err error) bool {
	switch {
	case err != nil && len(c.problems) < maxProblems:
		c.problems = append(c.problems, fmt.Sprintf("rank %d: %v: %.160q", rank, err, text))
	case err == nil && c.steps < maxSteps:
		c.steps++
		return true
	default:
		c.clipped = true
	}
	return false
}

// sorted returns the ranks in order.
func (c *collector[R]) sorted() []R {
	var out []R
	for _, n := range slices.SortedFunc(maps.Keys(c.ranks), cmp.Compare[int]) {
		out = append(out, *c.ranks[n])
	}
	return out
}
