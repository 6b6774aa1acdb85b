package controller

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// Times are when a day's lease ends, and until when it may be extended.
type DayTimes struct{ TermEndsAt, MaxEndsAt time.Time }

// errNoDown says that a schedule does not end the day.
var errNoDown = errors.New("the schedule has no entry whose action is down: nothing would end the day")

// TimesOf finds the day's end in a schedule: the next evening, and the notice that a holder
// is given then. It may be extended as far as leaves the rest of the evening's window before
// the next batch.
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
	t := DayTimes{TermEndsAt: down.At.Add(notice), MaxEndsAt: down.At.Add(notice)}
	after, err := s.Upcoming(down.At)
	if err != nil {
		return DayTimes{}, fmt.Errorf("find the end of the day: %w", err)
	}
	for _, o := range after {
		if last := o.At.Add(notice - down.Until.Sub(down.At)); o.Action == calendar.Batch && last.After(t.MaxEndsAt) {
			t.MaxEndsAt = last
			break
		}
	}
	return t, nil
}
