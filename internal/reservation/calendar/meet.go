package calendar

import (
	"slices"
	"time"
)

// interval is the time of a day deployment or of a batch.
type interval struct {
	from, to time.Time
	what     Occurrence // the start
	until    string     // the entry that ends it
}

// findOverlaps returns the batches that overlap with a day, which lasts from the start of an up to
// the end of the next down, or with another batch.
func (s *Schedule) findOverlaps(y year) []Problem {
	days := s.days(y)
	var nights []interval
	var out []Problem
	for i := range s.entries {
		e := &s.entries[i]
		if e.Action != Batch {
			continue
		}
		mine := nightsOf(y.around[e.Name])
		nights = append(nights, mine...)
		for _, m := range []overlapRule{
			{mine, days, overlap, "while people have the reservations: %s starts deployments at %s, and %s ends them by %s"},
			{mine, nights, follows, "during another batch: %s started at %s%s, and may run until %s"},
		} {
			if p := m.find(e, y); p != nil {
				out = append(out, *p)
			}
		}
	}
	return out
}

// overlapRule says which intervals must not overlap.
type overlapRule struct {
	mine, others []interval
	wrong        func(mine, other interval) bool
	while        string
}

func overlap(a, b interval) bool { return a.from.Before(b.to) && b.from.Before(a.to) }

// follows reports whether b has started and not ended when a starts.
func follows(a, b interval) bool {
	same := a.what.Entry == b.what.Entry && a.from.Equal(b.from)
	return !same && !b.from.After(a.from) && overlap(a, b)
}

func (m overlapRule) find(e *Entry, y year) *Problem {
	var d dates
	var first, with interval
	for _, night := range m.mine {
		if !y.has(night.what) {
			continue
		}
		i := slices.IndexFunc(m.others, func(o interval) bool { return m.wrong(night, o) })
		d.add(night.what, i >= 0)
		if i >= 0 && first.what.Entry == "" {
			first, with = night, m.others[i]
		}
	}
	if d.none() {
		return nil
	}
	entries := []string{e.Name, with.what.Entry}
	if with.until != "" {
		entries = append(entries, with.until)
	}
	at := func(t time.Time) string { return t.In(e.zone).Format("2006-01-02 15:04") }
	return &Problem{
		Problem: ruleMeet.At(e.pos, "%s runs from %s to %s (%s), "+m.while,
			e.Name, at(first.from), at(first.to), e.Zone, with.what.Entry, at(with.from), with.until, at(with.to)),
		Entries: entries, Dates: d.spans,
	}
}

// days returns an interval for each up.
func (s *Schedule) days(y year) []interval {
	var out []interval
	for i := range s.entries {
		if s.entries[i].Action != Up {
			continue
		}
		for _, up := range y.around[s.entries[i].Name] {
			if down, ok := s.down(up.At); ok {
				out = append(out, interval{up.At, down.Until, up, down.Entry})
			}
		}
	}
	return out
}

// down returns the first one after a time.
func (s *Schedule) down(after time.Time) (Occurrence, bool) {
	var first Occurrence
	found := false
	for i := range s.entries {
		e := &s.entries[i]
		if e.Action != Down {
			continue
		}
		if o, ok := e.next(after); ok && (!found || o.At.Before(first.At)) {
			first, found = o, true
		}
	}
	return first, found
}

func nightsOf(all []Occurrence) []interval {
	out := make([]interval, len(all))
	for i, o := range all {
		out[i] = interval{o.At, o.Until, o, ""}
	}
	return out
}
