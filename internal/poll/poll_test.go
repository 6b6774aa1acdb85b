package poll_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

var errNotYet = errors.New("not yet")

func TestUntil(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// results of cond in order; the last repeats
		results []error
		calls   int
		want    string
		is      error
	}{
		"at once":              {[]error{nil}, 1, "", nil},
		"at the third attempt": {[]error{errNotYet, errNotYet, nil}, 3, "", nil},
		"never":                {[]error{errNotYet}, 11, "wait for the thing: context deadline exceeded (last: not yet)", errNotYet},
		"stopped":              {[]error{errNotYet, poll.Stop(errors.New("refused"))}, 2, "wait for the thing: refused", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
				defer cancel()
				calls := 0
				err := poll.Until(ctx, time.Second, "the thing", func(context.Context) error {
					calls++
					return tt.results[min(calls, len(tt.results))-1]
				})
				if calls != tt.calls {
					t.Errorf("%d calls, want %d", calls, tt.calls)
				}
				if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("%v is not %v", err, tt.is)
				}
			})
		})
	}
}

// The cause of a cancelled context is in the error.
func TestCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("lab stopped"))
	err := poll.Until(ctx, time.Second, "the thing", func(ctx context.Context) error { return ctx.Err() })
	if err == nil || !strings.Contains(err.Error(), "lab stopped") {
		t.Errorf("%v", err)
	}
	if poll.Stop(nil) != nil {
		t.Error("Stop(nil) is an error")
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := poll.Sleep(t.Context(), time.Second); err != nil || time.Since(begin) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errNotYet)
		defer cancel()
		if err := poll.Sleep(ctx, time.Minute); !errors.Is(err, errNotYet) || time.Since(begin) != 2*time.Second {
			t.Errorf("%v after %s; want the cause of the context", err, time.Since(begin))
		}
	})
}
