package soak

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// Repeat accepts once. resume: an unfinished run is continued. It returns the ID of a run that
// came to its end; an error ends the soak, which can be continued.
type Repeat func(ctx context.Context, resume bool) (run string, err error)

// Run repeats until the duration is over. The last repetition begins before that and is not cut
// short. begun is the start of the last repetition; zero before the first.
func (s *Soak) Run(ctx context.Context, c clock.WithTicker, begun time.Time, repeat Repeat) error {
	resume := s.Resumed
	for c.Now().Before(s.End()) {
		if !begun.IsZero() && !resume {
			if err := until(ctx, c, begun.Add(s.Every.Duration), s.End()); err != nil {
				return err
			}
			if !c.Now().Before(s.End()) {
				break
			}
		}
		begun = c.Now()
		run, err := repeat(ctx, resume)
		resume = false
		if run != "" {
			s.Runs = append(s.Runs, run)
			if err := s.save(); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	s.Ended = true
	return s.save()
}

// until waits until a time, at most until the end.
func until(ctx context.Context, c clock.WithTicker, at, end time.Time) error {
	if at.After(end) {
		at = end
	}
	wait := at.Sub(c.Now())
	if wait <= 0 {
		return nil
	}
	timer := c.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the next repetition: %w", ctx.Err())
	}
}
