package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Occurrence is one time of an entry.
type Occurrence struct {
	Entry  string `json:"entry"`
	Action Action `json:"action"`
	// At is the start, in the zone of the entry; Until is the end of the window.
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
	// ClockChange is set at a change of the clock.
	ClockChange ClockChange `json:"clock,omitempty"`
}

// Next returns the first occurrence of an entry after a time; the error is ErrNoEntry or ErrNever.
func (s *Schedule) Next(entry string, after time.Time) (Occurrence, error) {
	e := s.entry(entry)
	if e == nil {
		return Occurrence{}, fmt.Errorf("entry %q: %w", entry, ErrNoEntry)
	}
	o, ok := e.next(after)
	if !ok {
		return Occurrence{}, fmt.Errorf("entry %q: %w", entry, ErrNever)
	}
	return o, nil
}

// Upcoming returns the next occurrence of every entry, in order of time.
func (s *Schedule) Upcoming(after time.Time) ([]Occurrence, error) {
	out := make([]Occurrence, 0, len(s.entries))
	for i := range s.entries {
		o, err := s.Next(s.entries[i].Name, after)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b Occurrence) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(slices.Index(Actions(), a.Action), slices.Index(Actions(), b.Action)))
	})
	return out, nil
}

// next searches from the time that the clock shows now. If the clock was set back, it shows times
// that have occurred already; they are ignored.
func (e *Entry) next(after time.Time) (Occurrence, bool) {
	clock := clockOf(after, e.zone)
	for {
		var ok bool
		if clock, ok = e.fields.after(clock); !ok {
			return Occurrence{}, false
		}
		at, shown := instant(clock, e.zone)
		if !at.After(after) {
			continue
		}
		if shown == Jumped && e.fields.match(clockOf(at, e.zone)) {
			shown = "" // it also matches by itself
		}
		return Occurrence{Entry: e.Name, Action: e.Action, At: at, Until: at.Add(e.Window.Duration), ClockChange: shown}, true
	}
}

// between returns the occurrences from a time (inclusive) to another (exclusive).
func (e *Entry) between(from, to time.Time) []Occurrence {
	var out []Occurrence
	for at := from.Add(-time.Second); ; {
		o, ok := e.next(at)
		if !ok || !o.At.Before(to) {
			return out
		}
		out = append(out, o)
		at = o.At
	}
}
