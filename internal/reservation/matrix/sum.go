package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// order has the outcomes, the worst for a leg first.
var order = []Outcome{Failed, TimedOut, Interrupted, Blocked, NotStarted, Superseded, Running, Pending, Passed}

// Summarize returns the outcome of a leg: passed if all cells passed and there is at least one;
// pending until all have ended; then that of the worst cell, in which timed-out, interrupted and
// not-started are failed. Blocked is worse than not-started: the reservation that was not available is
// why no time was left. reason counts the outcomes and names the first of the worst.
func Summarize(cells []Cell) (result Outcome, reason string) {
	if len(cells) == 0 {
		return Pending, "no cells"
	}
	if slices.ContainsFunc(cells, func(c Cell) bool { return !c.Outcome.Ended() }) {
		return Pending, counts(cells)
	}
	worst := slices.MinFunc(cells, func(a, b Cell) int { return rank(a.Outcome) - rank(b.Outcome) })
	reason = counts(cells)
	if worst.Outcome != Passed {
		reason += ": " + worst.Name()
		if worst.Reason != "" {
			reason += ": " + FirstLine(worst.Reason)
		}
	}
	switch worst.Outcome {
	case Failed, TimedOut, Interrupted, NotStarted:
		return Failed, reason
	default:
		return worst.Outcome, reason
	}
}

// rank returns the place of an outcome in order; an unknown outcome is the worst.
func rank(o Outcome) int { return slices.Index(order, o) }

func counts(cells []Cell) string {
	n := map[Outcome]int{}
	for _, c := range cells {
		n[c.Outcome]++
	}
	var out []string
	for _, o := range slices.Backward(order) {
		if n[o] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[o], o))
		}
	}
	return strings.Join(out, ", ")
}

// Name of a cell: v1.2.0/training.
func (c Cell) Name() string { return c.Version + "/" + string(c.Intent) }

// FirstLine returns the first line of a reason; the rest is the log of a hook.
func FirstLine(reason string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(reason), "\n")
	if more && strings.TrimSpace(rest) != "" {
		line += " [...]"
	}
	return line
}
