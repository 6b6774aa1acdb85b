package calendar

import (
	"errors"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // for machines and images without the time zone database

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClockChange is the change of the clock at an occurrence.
type ClockChange string

// Clock changes; empty on every other day.
const (
	// Jumped: the clock skips the time on this day; the entry occurs at the change.
	Jumped ClockChange = "jumped"
	// Twice: the clock shows the time twice on this day; the entry occurs the first time.
	Twice ClockChange = "twice"
)

// loadZone refuses Local: a file must mean the same everywhere.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errors.New("must be a name of the time zone database")
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load time zone: %w", err)
	}
	return loc, nil
}

// clockOf returns the time that the clock of a zone shows at an instant, in UTC.
func clockOf(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant returns when the clock of a zone shows a time, given in UTC.
func instant(clock time.Time, zone *time.Location) (time.Time, ClockChange) {
	// time.Date is right if the answer is unique and close otherwise; the answers use the offset
	// there or one of the two adjacent offsets.
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
	return slices.ContainsFunc(all, func(a time.Time) bool { return a.Equal(t) })
}

// jump returns the one of two changes of the clock that skips a time.
func jump(clock, start, end time.Time) time.Time {
	if !start.IsZero() {
		last := clockOf(start.Add(-time.Second), start.Location()) // the last second before the change
		if last.Before(clock) && clock.Before(clockOf(start, start.Location())) {
			return start
		}
	}
	return end
}

// ZoneChange is a change of the clock of a zone.
type ZoneChange struct {
	Zone string `json:"zone"`
	// At is the first instant after the change, in the zone.
	At time.Time `json:"at"`
	// By is the size of the change, such as 1h or -1h.
	By metav1.Duration `json:"by"`
}

// Changes returns the changes of the clocks in a year, by the zones of the entries.
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
				out = append(out, ZoneChange{e.Zone, at, metav1.Duration{Duration: time.Duration(after-before) * time.Second}})
			}
		}
	}
	return out
}
