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

// stalls is a process that is stopped, or gets no CPU, until a time: its timers fire then.
type stalls struct{ until atomic.Pointer[time.Time] }

// Suspended is called at each step, and returns when the process runs again. The machine was not suspended.
func (s *stalls) Suspended() time.Duration {
	if t := s.until.Load(); t != nil {
		<-time.After(time.Until(*t)) // of the bubble
	}
	return 0
}

// A step of a sleep may take minutes, in which its process was stopped or got no CPU. They are a part of the sleep.
func TestSleepEndsAfterAStall(t *testing.T) {
	for name, sleep := range map[string]func(ctx context.Context, k *keeper) error{
		"sleep": func(ctx context.Context, k *keeper) error { return k.sleep(ctx, 2*time.Minute) },
		"timeout": func(ctx context.Context, k *keeper) error {
			ctx, cancel := k.withTimeout(ctx, 2*time.Minute)
			defer cancel()
			<-ctx.Done()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stalls{}
				k := &keeper{Broker: New(Options{Store: &view{}, Suspended: s.Suspended})}
				begin := time.Now()
				resumed := begin.Add(5 * time.Minute)
				time.AfterFunc(10500*time.Millisecond, func() { s.until.Store(&resumed) })
				if err := sleep(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took > 5*time.Minute+time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A holder that was stopped for longer than its lease lasts ends its work when it runs again.
func TestWorkEndsAfterAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _, grants := holding(t, who("ada"))
		u.answers = 99
		s := &stalls{}
		b := New(Options{Store: u, Suspended: s.Suspended})
		err := b.Hold(t.Context(), grants, nil, func(ctx context.Context) error {
			if err := poll.Sleep(ctx, 5*time.Second); err != nil {
				return err
			}
			before, resumed := u.lastWrite(), time.Now().Add(10*time.Minute)
			s.until.Store(&resumed)
			<-ctx.Done()
			if late := time.Since(resumed); late > time.Second {
				t.Errorf("the work ended %s after the resume", late)
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
}
