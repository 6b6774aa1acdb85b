package controller

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// DayTimes are the time of the down entry, the end of a day's lease, and the latest end with extensions.
type DayTimes struct{ DownAt, TermEndsAt, MaxEndsAt time.Time }

var errNoDown = errors.New("the schedule has no entry with action down, so nothing would end the day")

// DayTimesOf returns the end of the day: the next down entry plus the notice. Extensions must
// leave the rest of its window before the next batch.
func DayTimesOf(s *calendar.Schedule, now time.Time, notice time.Duration) (DayTimes, error) {
	list, err := s.Upcoming(now)
	if err != nil {
		return DayTimes{}, fmt.Errorf("find the end of the day: %w", err)
	}
	var down calendar.Occurrence
	for _, o := range list {
		if o.Action == calendar.Down {
			down = o
			break
		}
	}
	if down.At.IsZero() {
		return DayTimes{}, errNoDown
	}
	t := DayTimes{DownAt: down.At, TermEndsAt: down.At.Add(notice), MaxEndsAt: down.At.Add(notice)}
	after, err := s.Upcoming(down.At)
	if err != nil {
		return DayTimes{}, fmt.Errorf("find the end of the day: %w", err)
	}
	isBatch := func(o calendar.Occurrence) bool { return o.Action == calendar.Batch }
	if i := slices.IndexFunc(after, isBatch); i >= 0 {
		if last := after[i].At.Add(notice - down.Until.Sub(down.At)); last.After(t.MaxEndsAt) {
			t.MaxEndsAt = last
		}
	}
	return t, nil
}
