package matrix

import (
	"fmt"
	"slices"
	"strings"
)

// order is how bad an outcome is for a leg, the worst first.
var order = []Outcome{Failed, TimedOut, Interrupted, Blocked, NotStarted, Superseded, Running, Pending, Passed}

// Sum is what a leg comes to. It is passed when every cell is, and there are some; failed when one
// is failed, timed-out, interrupted or not-started; else blocked, superseded, or pending, as its
// worst cell is. Why counts the outcomes, and names the first of the worst.
func Summarize(cells []Cell) (result Outcome, reason string) {
	if len(cells) == 0 {
		return Pending, "there are no cells"
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

// rank is the place of an outcome in order; what is unknown is the worst.
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

// Name is what a cell is called: v1.2.0/training.
func (c Cell) Name() string { return c.Version + "/" + string(c.Intent) }

// Brief is the first line of a reason: what follows is a hook's log.
func FirstLine(reason string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(reason), "\n")
	if more && strings.TrimSpace(rest) != "" {
		line += " [...]"
	}
	return line
}

// Outcomes are those that there are.
func Outcomes() []Outcome { return slices.Clone(order) }
