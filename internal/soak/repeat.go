package soak

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// pause is the least time from the start of a repetition that did not pass to that of the next: a
// fault that is seen at once would fill the disk.
const pause = time.Minute

// Repeat accepts once and returns the verdict. With cut the acceptance did not come to its end for a
// reason that does not end the soak; err ends the soak, which can be continued.
type Repeat func(ctx context.Context) (verdict check.Verdict, cut, err error)

// Run repeats until the duration is over. The last repetition begins before that and is not cut
// short. last is the start of the last repetition of an earlier process; zero without one.
func (s *Soak) Run(ctx context.Context, c clock.WithTicker, last time.Time, repeat Repeat) error {
	due := c.Now()
	if !last.IsZero() {
		due = last.Add(s.Every.Duration)
	}
	for {
		if err := waitUntil(ctx, c, due, s.End()); err != nil {
			return err
		}
		start := c.Now()
		if !start.Before(s.End()) {
			break
		}
		s.Attempts = append(s.Attempts, Attempt{Started: start.UTC().Round(0)})
		if err := s.save(); err != nil {
			return err
		}
		verdict, cut, err := repeat(ctx)
		if err != nil {
			return err
		}
		if err := s.ended(c.Now(), verdict, cut); err != nil {
			return err
		}
		due = start.Add(s.Every.Duration)
		if !verdict.Holds() && s.Every.Duration < pause {
			due = start.Add(pause)
		}
	}
	s.Complete = true
	return s.save()
}

// ended records the end of the repetition that was begun last.
func (s *Soak) ended(at time.Time, verdict check.Verdict, cut error) error {
	a := &s.Attempts[len(s.Attempts)-1]
	a.Ended, a.Verdict = at.UTC().Round(0), verdict
	if cut != nil {
		a.Error = redact.String(cut.Error())
	}
	return s.save()
}

// waitUntil waits until a time, at most until the end.
func waitUntil(ctx context.Context, c clock.WithTicker, at, end time.Time) error {
	if at.After(end) {
		at = end
	}
	if wait := at.Sub(c.Now()); wait > 0 {
		timer := c.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for the next repetition: %w", err)
	}
	return nil
}
