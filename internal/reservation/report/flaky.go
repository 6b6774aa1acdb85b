package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// flaky counts the changes between passed and not passed in the newest nights. Cells that did not
// run are ignored.
func (r *Row) flaky(t Flaky) string {
	flips, runs := 0, 0
	var last *matrix.Cell
	var seen strings.Builder
	for _, c := range r.Cells[max(0, len(r.Cells)-t.Nights):] {
		if !ran(c) {
			continue
		}
		if last != nil && (last.Outcome == matrix.Passed) != (c.Outcome == matrix.Passed) {
			flips++
		}
		last, runs = c, runs+1
		seen.WriteString(Letter(c))
	}
	if flips < t.Flips {
		return ""
	}
	reason := fmt.Sprintf("%d flips in %d runs of the last %d nights: %s", flips, runs, t.Nights, seen.String())
	if r.Version == config.MainBranch {
		reason += "; main changes: it may have been broken and fixed"
	}
	return reason
}

// stale reports a cell of the current matrix that does not run. An unfinished night is ignored.
func (r *Row) stale(g *Results) string {
	if !r.Current {
		return ""
	}
	last := func(c *matrix.Cell) bool { return c != nil && c.Outcome.Ended() }
	if r.LastRun.IsZero() {
		if !slices.ContainsFunc(r.Cells, last) {
			return "" // its first night
		}
		n := 0
		for _, c := range r.Cells {
			if last(c) {
				n++
			}
		}
		return fmt.Sprintf("in the matrix for %s, but never run: %s", countNights(n), r.outcomeText())
	}
	if age := g.Made.Sub(r.LastRun); age > time.Duration(g.Thresholds.Stale.Days)*24*time.Hour {
		return fmt.Sprintf("last run on %s, %d days ago%s", r.LastRun.Format(time.DateOnly), int(age/(24*time.Hour)), r.sinceText())
	}
	return ""
}

func (r *Row) outcomeText() string {
	if r.Reason == "" {
		return string(r.Newest)
	}
	return fmt.Sprintf("%s: %s", r.Newest, r.Reason)
}

// sinceText says what happened since the last run.
func (r *Row) sinceText() string {
	if r.Newest == matrix.Passed || r.Newest == matrix.Failed || r.Newest == matrix.TimedOut {
		return ": no batch has reached it since"
	}
	return ": since then " + r.outcomeText()
}

// letters abbreviate outcomes.
var letters = []struct {
	Outcome matrix.Outcome
	Letter  string
}{
	{matrix.Passed, "P"}, {matrix.Failed, "F"}, {matrix.TimedOut, "T"}, {matrix.Blocked, "B"}, {matrix.NotStarted, "N"},
	{matrix.Superseded, "S"}, {matrix.Interrupted, "I"}, {matrix.Running, "R"}, {matrix.Pending, "."},
}

// Letter abbreviates the outcome of a cell; a space: not in that night's matrix.
func Letter(c *matrix.Cell) string {
	if c == nil {
		return " "
	}
	for _, l := range letters {
		if l.Outcome == c.Outcome {
			return l.Letter
		}
	}
	return "?"
}
