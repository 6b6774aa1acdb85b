package controller

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

func exampleSchedule(t *testing.T) *calendar.Schedule {
	t.Helper()
	const path = "../../../examples/schedule.yaml"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := calendar.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTimesOf(t *testing.T) {
	example := exampleSchedule(t)
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	got, err := DayTimesOf(example, at("2026-11-21T16:00:00Z"), 30*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if want := (DayTimes{TermEndsAt: at("2026-11-22T02:30:00Z"), MaxEndsAt: at("2026-11-22T03:00:00Z")}); !got.TermEndsAt.Equal(want.TermEndsAt) || !got.MaxEndsAt.Equal(want.MaxEndsAt) {
		t.Errorf("got %v, want %v", got, want)
	}
	endless, err := calendar.Parse("schedule.yaml", []byte(`entries:
- {name: early, action: batch, cron: "0 15 * * *", zone: UTC, window: 1h}
- {name: night, action: batch, cron: "0 4 * * *", zone: UTC, window: 5h}
margins:
- {from: night, to: early, at-least: 1h}
`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DayTimesOf(endless, at("2026-11-21T16:00:00Z"), 0); !errors.Is(err, errNoDown) {
		t.Errorf("a day without an evening: %v", err)
	}
}

// A lease cannot be extended into the next batch, also if the batch leaves no time for an
// extension and a later batch would.
func TestExtensionsEndBeforeTheNextBatch(t *testing.T) {
	tight, err := calendar.Parse("schedule.yaml", []byte(`entries:
- {name: up, action: up, cron: "0 15 * * *", zone: UTC, window: 1h}
- {name: down, action: down, cron: "0 2 * * *", zone: UTC, window: 1h30m}
- {name: early, action: batch, cron: "30 3 * * *", zone: UTC, window: 1h}
- {name: late, action: batch, cron: "0 6 * * *", zone: UTC, window: 5h}
margins:
- {from: down, to: early, at-least: 0s}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := DayTimesOf(tight, at(t, "2026-11-21T16:00:00Z"), 30*time.Minute)
	if end := at(t, "2026-11-22T02:30:00Z"); err != nil || !got.TermEndsAt.Equal(end) || !got.MaxEndsAt.Equal(end) {
		t.Errorf("%v: got %v, want no extension past %v", err, got, end)
	}
}
