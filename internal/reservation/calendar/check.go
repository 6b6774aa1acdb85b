package calendar

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

// Problem is a problem of a schedule in a year, at the position of the margin or the entry.
type Problem struct {
	diag.Problem
	Entries []string `json:"entries"`
	// Dates are the days with the problem; none: the whole year.
	Dates []Span `json:"dates,omitempty"`
}

// Span is a series of consecutive occurrences.
type Span struct {
	// First and Last are dates in the zone of the first entry: 2026-03-29.
	First string `json:"first"`
	Last  string `json:"last"`
	// Occurrences is their number from First to Last.
	Occurrences int `json:"occurrences"`
}

// String formats the dates.
func (s Span) String() string {
	if s.Occurrences == 1 {
		return s.First
	}
	return fmt.Sprintf("%s to %s (%d times)", s.First, s.Last, s.Occurrences)
}

// String is one line without the dates.
func (p Problem) String() string { return p.Problem.String() }

// checkMargins is the time before and after a year whose occurrences are checked too, because a
// window may reach into the year. It is longer than any window.
const checkMargins = maxDuration + 24*time.Hour

// year has the occurrences to check.
type year struct {
	number int
	// around has the occurrences of each entry, from before the year to after it.
	around map[string][]Occurrence
}

// Check checks the margins of a schedule, and that days and nights do not overlap, for every
// occurrence in a year (in the zone of the entry). An entry without an occurrence is a problem.
// The result is in the order of Rules and of the file.
func (s *Schedule) Check(number int) []Problem {
	if len(s.entries) == 0 {
		return []Problem{{Problem: ruleEmpty.At(diag.Pos{}, "no entries")}}
	}
	y := s.around(number)
	var out []Problem
	for i := range s.margins {
		if p := s.checkMargin(&s.margins[i], y); p != nil {
			out = append(out, *p)
		}
	}
	return slices.Concat(out, s.findOverlaps(y), s.checkClockChanges(y))
}

func (s *Schedule) around(number int) year {
	y := year{number, make(map[string][]Occurrence, len(s.entries))}
	from, to := time.Date(number, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(number+1, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range s.entries {
		e := &s.entries[i]
		y.around[e.Name] = e.between(from.Add(-checkMargins), to.Add(checkMargins))
	}
	return y
}

func (y year) has(o Occurrence) bool { return o.At.Year() == y.number }

// count returns the number of occurrences of an entry in the year.
func (y year) count(entry string) int {
	n := 0
	for _, o := range y.around[entry] {
		if y.has(o) {
			n++
		}
	}
	return n
}

func (s *Schedule) checkMargin(m *Margin, y year) *Problem {
	to := s.entry(m.To)
	var d dates
	var worst Occurrence
	closest := time.Duration(1<<63 - 1)
	for _, o := range y.around[m.From] {
		if !y.has(o) {
			continue
		}
		counted := o.Until
		if m.FromStart {
			counted = o.At
		}
		// Search from the start: an occurrence within the window is too close, and not the next
		// day's.
		since := o.At.Add(-time.Second)
		if m.From == m.To {
			since = o.At
		}
		next, ok := to.next(since)
		gap := next.At.Sub(counted)
		bad := ok && gap < m.AtLeast
		d.add(o, bad)
		if bad && gap < closest {
			closest, worst = gap, o
		}
	}
	if d.none() {
		return nil
	}
	where, how := "the end of its window", fmt.Sprintf("%s after", FormatDuration(closest))
	if m.FromStart {
		where = "its start"
	}
	if closest < 0 {
		how = fmt.Sprintf("%s before", FormatDuration(-closest))
	}
	return &Problem{
		Problem: ruleMargin.At(m.pos, "the margin from %s (%s) to %s must be at least %s: on %s, %s is %s it",
			m.From, where, m.To, FormatDuration(m.AtLeast), day(worst), m.To, how),
		Entries: []string{m.From, m.To}, Dates: d.spans,
	}
}

// checkClockChanges reports entries without occurrences, and those at a change of the clock.
func (s *Schedule) checkClockChanges(y year) []Problem {
	var out []Problem
	for _, e := range s.entries {
		if y.count(e.Name) == 0 {
			out = append(out, Problem{Problem: ruleNotThisYear.At(e.pos, "%s does not occur in %d", e.Name, y.number), Entries: []string{e.Name}})
		}
		for _, c := range []struct {
			clock ClockChange
			rule  diag.Rule
			how   string
		}{{Jumped, ruleJumped, "skips"}, {Twice, ruleShownTwice, "repeats"}} {
			var d dates
			for _, o := range y.around[e.Name] {
				if y.has(o) {
					d.add(o, o.ClockChange == c.clock)
				}
			}
			if !d.none() {
				out = append(out, Problem{
					Problem: c.rule.At(e.pos, "the clock of %s %s the time of %s (%s)", e.Zone, c.how, e.Name, e.Cron),
					Entries: []string{e.Name}, Dates: d.spans,
				})
			}
		}
	}
	return out
}

// dates groups consecutive occurrences into spans.
type dates struct {
	spans []Span
	open  bool
}

func (d *dates) add(o Occurrence, bad bool) {
	if bad {
		if !d.open {
			d.spans = append(d.spans, Span{First: day(o)})
		}
		last := &d.spans[len(d.spans)-1]
		last.Last = day(o)
		last.Occurrences++
	}
	d.open = bad
}

func (d *dates) none() bool { return len(d.spans) == 0 }

func day(o Occurrence) string { return o.At.Format(time.DateOnly) }
