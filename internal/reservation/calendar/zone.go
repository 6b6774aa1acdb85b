package calendar

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // for machines and images without the time zone database
)

// Clock is what the clock does at an occurrence.
type ClockChange string

// Clock values: the empty one is every other day.
const (
	// Jumped: the clock does not show the entry's time on this day; it occurs when
	// the clock has jumped over it.
	Jumped ClockChange = "jumped"
	// Twice: the clock shows the entry's time twice on this day; it occurs the first
	// time.
	Twice ClockChange = "twice"
)

// loadZone finds a zone; Local is none, for a file means the same everywhere.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errors.New("a name of the time zone database is wanted")
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load time zone: %w", err)
	}
	return loc, nil
}

// clockOf is what the clock of a zone shows at an instant, as a time in UTC.
func clockOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant is when the clock of a zone shows a time, given in UTC.
func instant(clock time.Time, zone *time.Location) (time.Time, ClockChange) {
	// time.Date is right where there is one answer, and near it otherwise; the
	// answers are by the offset there, or by one of the two beside it.
	near := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone)
	start, end := near.ZoneBounds()
	beside := []time.Time{near}
	if !start.IsZero() {
		beside = append(beside, start.Add(-time.Second))
	}
	if !end.IsZero() {
		beside = append(beside, end)
	}
	var answers []time.Time
	for _, b := range beside {
		_, offset := b.Zone()
		at := clock.Add(-time.Duration(offset) * time.Second).In(zone)
		if clockOf(at, zone).Equal(clock) && !contains(answers, at) {
			answers = append(answers, at)
		}
	}
	switch len(answers) {
	case 0:
		return jump(clock, start, end), Jumped
	case 1:
		return answers[0], ""
	default:
		first := answers[0]
		for _, a := range answers {
			if a.Before(first) {
				first = a
			}
		}
		return first, Twice
	}
}

func contains(all []time.Time, t time.Time) bool {
	for _, a := range all {
		if a.Equal(t) {
			return true
		}
	}
	return false
}

// jump is the one of two changes of the clock that jumps over a time.
func jump(clock, start, end time.Time) time.Time {
	if !start.IsZero() {
		last := clockOf(start.Add(-time.Second), start.Location()) // the last second before
		if last.Before(clock) && clock.Before(clockOf(start, start.Location())) {
			return start
		}
	}
	return end
}

// Change is one of a zone's clock.
type ZoneChange struct {
	Zone string `json:"zone"`
	// At is the first instant by the new time, in the zone.
	At time.Time `json:"at"`
	// By is how far the clock jumps: an hour, minus an hour.
	By time.Duration `json:"by"`
}

// Changes are those of the clocks of the schedule's zones in a year, in the order
// of the entries' zones.
func (s *Schedule) Changes(year int) []ZoneChange {
	var out []ZoneChange
	seen := map[string]bool{}
	for _, e := range s.entries {
		if seen[e.Zone] {
			continue
		}
		seen[e.Zone] = true
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second).In(e.zone)
		for {
			_, before := at.Zone()
			_, at = at.ZoneBounds()
			if at.IsZero() || at.UTC().Year() > year {
				break
			}
			if _, after := at.Zone(); after != before {
				out = append(out, ZoneChange{e.Zone, at, time.Duration(after-before) * time.Second})
			}
		}
	}
	return out
}
