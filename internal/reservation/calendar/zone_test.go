package calendar

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// step divides every time of the tests and every change of a clock in them.
const step = 15 * time.Minute

// TestTimesAgainstAClock compares Next with a clock that is read every quarter of an hour around
// its changes: an entry is due when the clock first shows its time, or, if it is skipped, at the
// change.
func TestTimesAgainstAClock(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran", "Pacific/Apia"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			loc, err := loadZone(zone)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"0 0 * * *", "30 2 * * *", "15 1-3 * * *", "45 * * * *", "0 2 * * 0"} {
				f, err := parseCron(text)
				if err != nil {
					t.Fatal(err)
				}
				e := Entry{Name: "e", fields: f, Zone: zone, zone: loc}
				s := Schedule{entries: []Entry{e}}
				for _, year := range []int{2011, 2026} {
					days := []time.Time{time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)}
					for _, c := range s.Changes(year) {
						days = append(days, c.At.UTC().Truncate(24*time.Hour))
					}
					for _, day := range days {
						from, to := day.Add(-36*time.Hour), day.Add(60*time.Hour)
						var got []string
						for _, o := range e.between(from, to) {
							got = append(got, o.At.UTC().Format(time.RFC3339)+string(o.ClockChange))
						}
						if want := watch(f, loc, from, to); !slices.Equal(got, want) {
							t.Errorf("%s around %s:\ngot  %v\nwant %v", text, day, got, want)
						}
					}
				}
			}
		})
	}
}

// watch reads the clock every step from a time to another.
func watch(f fields, loc *time.Location, from, to time.Time) []string {
	shown := map[time.Time]int{}
	for at := from.Add(-48 * time.Hour); at.Before(to.Add(48 * time.Hour)); at = at.Add(step) {
		shown[clockOf(at, loc)]++
	}
	var out []string
	seen := map[time.Time]bool{}
	last := clockOf(from.Add(-48*time.Hour), loc)
	for at := from.Add(-48 * time.Hour); at.Before(to); at = at.Add(step) {
		clock := clockOf(at, loc)
		due, how := f.match(clock) && !seen[clock], ""
		if due && shown[clock] > 1 {
			how = string(Twice)
		}
		for skipped := last.Add(step); !due && skipped.Before(clock); skipped = skipped.Add(step) {
			if f.match(skipped) {
				due, how = true, string(Jumped)
			}
		}
		seen[clock], last = true, clock
		if due && !at.Before(from) {
			out = append(out, fmt.Sprintf("%s%s", at.UTC().Format(time.RFC3339), how))
		}
	}
	return out
}
