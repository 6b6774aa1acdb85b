package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

func TestTimesOf(t *testing.T) {
	example, err := calendar.Load("../../../examples/schedule.yaml")
	if err != nil {
		t.Fatal(err)
	}
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
