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
	if err := poll.Until(ctx, 10*time.Millisecond, what, func(context.Context) error { return cond() }); err != nil {
		tb.Fatal(err)
	}
}
