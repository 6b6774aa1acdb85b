// Package polltest waits in tests.
package polltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// within bounds a wait; it is long because test machines are busy.
const within = 5 * time.Minute

// A long wait asks less often than a short one: requests every 10 ms for as long as a pod starts cost
// more CPU time than the pod.
const (
	shortest = 10 * time.Millisecond
	longest  = 250 * time.Millisecond
	growth   = 1.2
)

var errNotYet = errors.New("not yet")

// Until calls cond until it is true, and fails the test at a timeout of five minutes.
func Until(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	UntilNil(tb, what, func() error {
		if !cond() {
			return errNotYet
		}
		return nil
	})
}

// UntilNil calls cond until it returns nil, and fails the test with its last error at a timeout of
// five minutes, or at once if it returns poll.Stop(err).
func UntilNil(tb testing.TB, what string, cond func() error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), within) // cleanups may wait
	defer cancel()
	pause := time.Duration(0) // in addition to the interval
	err := poll.Until(ctx, shortest, what, func(ctx context.Context) error {
		if err := poll.Sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(time.Duration(float64(pause+shortest)*growth), longest) - shortest
		return cond()
	})
	if err != nil {
		tb.Fatal(err)
	}
}
