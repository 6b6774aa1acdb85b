// Package poll waits: for a condition, with what it waited for in the error, or for a duration.
package poll

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Until calls cond at once and then every interval until it returns nil or ctx ends. The
// error then has ctx's cause and the last error of cond:
//
//	wait for the API server: context deadline exceeded (last: connection refused)
//
// A cond that returns Stop(err) ends the wait with err. Every error of cond before the end
// of ctx is a reason to try again.
func Until(ctx context.Context, interval time.Duration, what string, cond func(ctx context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
		err := cond(ctx)
		if stop, ok := err.(stopError); ok { //nolint:errorlint // Stop's own type, never wrapped
			return false, stop
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil:
		if stop, ok := err.(stopError); ok { //nolint:errorlint // as above
			return fmt.Errorf("wait for %s: %w", what, stop.error)
		}
		return fmt.Errorf("wait for %s: %w", what, err)
	case last != nil:
		return fmt.Errorf("wait for %s: %w (last: %w)", what, context.Cause(ctx), last)
	default:
		return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
	}
}

// Sleep waits for d, and returns ctx's cause if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop marks an error that no further attempt can mend. Stop(nil) is nil.
func Stop(err error) error {
	if err == nil {
		return nil
	}
	return stopError{err}
}

type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }
