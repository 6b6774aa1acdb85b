package broker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// After the machine was suspended for longer than a lease lasts, another may have the reservation: the
// work ends before the store is asked, also if a renewal was in progress.
func TestWorkEndsAfterASuspend(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration
		answers int
	}{
		"between renewals":     {5 * time.Second, 99},
		"in a renewal":         {13 * time.Second, 0},
		"after three renewals": {40 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, _, grants := holding(t, who("ada"))
				u.answers = c.answers
				var suspended atomic.Int64
				b := New(Options{Store: u, Suspended: func() time.Duration { return time.Duration(suspended.Load()) }})
				err := b.Hold(t.Context(), grants, nil, func(ctx context.Context) error {
					if err := poll.Sleep(ctx, c.after); err != nil {
						return err
					}
					before := u.lastWrite()
					suspended.Store(int64(10 * time.Minute))
					resumed := time.Now()
					<-ctx.Done()
					if took := time.Since(resumed); took > time.Second {
						t.Errorf("the work ended %s after the resume", took)
					}
					if u.lastWrite() != before {
						t.Error("the lease was renewed after the resume")
					}
					return nil
				})
				if !errors.Is(err, ErrRenewFailed) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
