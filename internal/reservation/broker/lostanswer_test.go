package broker

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// losing is a store that writes the first change and loses the answer; then others act.
type losing struct {
	*view
	then func()
}

func (l *losing) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	saved, err := l.view.Save(ctx, r)
	if then := l.then; then != nil && err == nil {
		l.then = nil
		then()
		return nil, syscall.ECONNRESET
	}
	return saved, err
}

// A step has one effect and is answered well, also if its first answer was lost and others acted before it was repeated.
// The repetition was refused as stale if its event had left the status, which has as few as eight, and a quarantine of a
// free reservation made it dirty again after it had been cleaned.
func TestStepWhoseAnswerIsLostHasOneEffect(t *testing.T) {
	type other struct {
		*Broker
		token int64 // of the lease or cleaning that the step concerns
	}
	cleaned := func(t *testing.T, o other) {
		t.Helper()
		l, err := o.Clean(t.Context(), "one", who("eve"))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.FinishClean(t.Context(), "one", l.Token, "clean"); err != nil {
			t.Fatal(err)
		}
	}
	acquired := func(t *testing.T, o other) int64 {
		t.Helper()
		got, err := o.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		return got[0].Token
	}
	published := func(t *testing.T, o other) int64 {
		t.Helper()
		token := acquired(t, o)
		if _, err := o.Publish(t.Context(), "one", token, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), "up"); err != nil {
			t.Fatal(err)
		}
		return token
	}
	checkedOut := func(t *testing.T, o other) int64 {
		t.Helper()
		l, err := o.Checkout(t.Context(), "one", who("bob"))
		if err != nil {
			t.Fatal(err)
		}
		return l.Token
	}
	cleaning := func(t *testing.T, o other) int64 {
		t.Helper()
		if err := o.QuarantineFree(t.Context(), "one", "guard", "in use"); err != nil {
			t.Fatal(err)
		}
		l, err := o.Clean(t.Context(), "one", who("eve"))
		if err != nil {
			t.Fatal(err)
		}
		return l.Token
	}
	for _, c := range []struct {
		name    string
		before  func(*testing.T, other) int64
		step    func(context.Context, other) error
		between func(*testing.T, other)
		event   lease.EventType
		after   lease.State
	}{
		{
			"quarantine of a free reservation", nil,
			func(ctx context.Context, o other) error { return o.QuarantineFree(ctx, "one", "guard", "in use") },
			cleaned, lease.Quarantined, lease.Free,
		}, {
			"quarantine of a lease", acquired,
			func(ctx context.Context, o other) error { return o.Quarantine(ctx, "one", o.token, "in use") },
			cleaned, lease.Quarantined, lease.Free,
		}, {
			"eviction", acquired,
			func(ctx context.Context, o other) error { return o.Evict(ctx, "one", o.token, "cyd", "wanted") },
			func(t *testing.T, o other) { cleaned(t, o); acquired(t, o) }, lease.Evicted, lease.Leased,
		}, {
			"release", acquired,
			func(ctx context.Context, o other) error { return o.Release(ctx, "one", o.token, "done") },
			func(t *testing.T, o other) { cleaned(t, o); acquired(t, o) }, lease.Released, lease.Leased,
		}, {
			"publication", acquired,
			func(ctx context.Context, o other) error {
				l, err := o.Publish(ctx, "one", o.token, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), "up")
				if err == nil && l.Token != o.token {
					err = fmt.Errorf("the token is %d, want %d", l.Token, o.token)
				}
				return err
			},
			func(t *testing.T, o other) { checkedOut(t, o) }, lease.Published, lease.Leased,
		}, {
			"extension", published,
			func(ctx context.Context, o other) error {
				_, err := o.Extend(ctx, "one", o.token, time.Minute, "more")
				return err
			},
			func(t *testing.T, o other) { checkedOut(t, o) }, lease.Extended, lease.Leased,
		}, {
			"notice", published,
			func(ctx context.Context, o other) error {
				return o.Notify(ctx, "one", o.token, "cyd", "wanted", time.Now().Add(time.Hour))
			},
			func(t *testing.T, o other) { checkedOut(t, o) }, lease.Notified, lease.Leased,
		}, {
			"check-in", func(t *testing.T, o other) int64 { published(t, o); return checkedOut(t, o) },
			func(ctx context.Context, o other) error { return o.Checkin(ctx, "one", o.token, "done") },
			func(t *testing.T, o other) { checkedOut(t, o) }, lease.CheckedIn, lease.Leased,
		}, {
			"cleaning", cleaning,
			func(ctx context.Context, o other) error { return o.FinishClean(ctx, "one", o.token, "clean") },
			func(t *testing.T, o other) { cleaning(t, o) }, lease.Cleaned, lease.Cleaning,
		}, {
			"failed cleaning", cleaning,
			func(ctx context.Context, o other) error { return o.FailClean(ctx, "one", o.token, "broken") },
			cleaned, lease.CleanFailed, lease.Free,
		},
	} {
		for _, archived := range []bool{false, true} {
			name := c.name
			if archived {
				name += ", its event is archived"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					seen := &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada", operators: []string{"ada"}}
					others := other{Broker: New(Options{Store: seen})}
					if c.before != nil {
						others.token = c.before(t, others)
					}
					first := seen.r.Status.Events
					l := &losing{view: seen, then: func() {
						c.between(t, others)
						if archived {
							seen.archive()
						}
					}}
					if err := c.step(t.Context(), other{Broker: New(Options{Store: l}), token: others.token}); err != nil {
						t.Errorf("%v", err)
					}
					if l.then != nil {
						t.Error("it wrote nothing")
					}
					effects := 0
					all := slices.Concat(seen.archived, seen.r.Status.Recent)
					for _, e := range all {
						if e.Type == c.event && e.N > first && e.Token == others.token {
							effects++
						}
					}
					if state := seen.r.Status.CurrentState(); effects != 1 || state != c.after {
						t.Errorf("%d effects, the reservation is %s, want %s: %v", effects, state, c.after, all)
					}
				})
			})
		}
	}
}
