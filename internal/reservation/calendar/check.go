package calendar

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

// Problem is one thing wrong with a year of a schedule. Its place is that of the
// margin or the entry in the file.
type Problem struct {
	diag.Problem
	// Entries are those that it is about.
	Entries []string `json:"entries"`
	// Dates are the days on which it is so; none: it is so of the whole year.
	Dates []Span `json:"dates,omitempty"`
}

// Span is several occurrences in a row.
type Span struct {
	// First and Last are dates by the clock of the first entry's zone: 2026-03-29.
	First string `json:"first"`
	Last  string `json:"last"`
	// Occurrences is how many there are from First to Last.
	Occurrences int `json:"occurrences"`
}

// String is the dates for people.
func (s Span) String() string {
	if s.Occurrences == 1 {
		return s.First
	}
	return fmt.Sprintf("%s to %s (%d times)", s.First, s.Last, s.Occurrences)
}

// String is one line without the dates.
func (p Problem) String() string { return p.Problem.String() }

// beyond is how far before and after a year occurrences are looked at: what began
// before it may last into it. It is longer than any window.
const checkMargins = maxDuration + 24*time.Hour

// year is the occurrences that are looked at.
type year struct {
	number int
	// around are those of each entry, from before the year to after it.
	around map[string][]Occurrence
}

// Check holds a schedule against its margins, and days against nights, for every
// occurrence in a year (by the clock of its zone). Nothing that occurs is no pass: of an entry that
// does not, it is said. What is found comes in the order of the rules of Rules,
// and of the file.
func (s *Schedule) Check(number int) []Problem {
	if len(s.entries) == 0 {
		return []Problem{{Problem: ruleEmpty.At(diag.Pos{}, "there are no entries")}}
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

// count is how often an entry occurs in the year.
func (y year) count(entry string) int {
	n := 0
	for _, o := range y.around[entry] {
		if y.has(o) {
			n++
		}
	}
	return n
}

// held checks one margin.
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
		// The next is looked for from the start: one that comes within the window is
		// too close, not the next day's.
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
		Problem: ruleMargin.At(m.pos, "from %s (%s) to %s there has to be %s at least: on %s, %s comes %s that",
			m.From, where, m.To, FormatDuration(m.AtLeast), day(worst), m.To, how),
		Entries: []string{m.From, m.To}, Dates: d.spans,
	}
}

// clocks says which entries do not occur, and which occur where the clock changes.
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
		}{{Jumped, ruleJumped, "jumps over"}, {Twice, ruleShownTwice, "shows twice"}} {
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

// dates gathers occurrences into spans: those that come one after the other.
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
