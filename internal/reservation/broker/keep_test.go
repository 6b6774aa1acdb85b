package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// unreliable is a store whose writes take some time, and which does not answer after the first
// few.
type unreliable struct {
	*view
	takes time.Duration

	mu      sync.Mutex
	answers int
	// written is the begin of the last write that was answered.
	written time.Time
}

func (u *unreliable) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	begin := time.Now()
	u.mu.Lock()
	answers := u.answers > 0
	if answers {
		u.answers--
	}
	u.mu.Unlock()
	if !answers {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if err := pause(ctx, u.takes); err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.written = begin
	u.mu.Unlock()
	return u.view.Save(ctx, r)
}

// holding is a broker with a lease on an unreliable store. It must run in a bubble.
func holding(t *testing.T, tk lease.Ticket) (*unreliable, *Broker, []Grant) {
	t.Helper()
	u := &unreliable{view: &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada"}, answers: 1}
	b := New(Options{Store: u})
	grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: tk})
	if err != nil {
		t.Fatal(err)
	}
	return u, b, grants
}

// A holder stops with at least a quarter of the interval left, in which its work ends, before the
// lease can expire. The interval counts from the begin of the last renewal that succeeded.
func TestHolderStopsBeforeTheLeaseCanExpire(t *testing.T) {
	for _, answers := range []int{0, 1, 2, 5} {
		for _, takes := range []time.Duration{0, 5 * time.Second, 11 * time.Second} {
			for _, idle := range []time.Duration{0, 20 * time.Second, 50 * time.Second} {
				t.Run(fmt.Sprint(answers, takes, idle), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						u, b, grants := holding(t, who("ada"))
						_ = pause(t.Context(), idle)
						u.answers, u.takes = answers, takes
						err := b.KeepAlive(t.Context(), grants, nil)
						if !errors.Is(err, ErrRenewFailed) {
							t.Errorf("%v", err)
						}
						if used := time.Since(u.written); used > max(minute*3/4, idle) {
							t.Errorf("it holds the lease until %s after its last renewal", used)
						}
					})
				})
			}
		}
	}
}

// A holder stops at the end of its term, also between two renewals, and learns of an extension
// before.
func TestHolderStopsAtTheEndOfItsTerm(t *testing.T) {
	tk := lease.Ticket{Holder: "ada", RenewInterval: lease.Duration(time.Hour), Term: lease.Duration(90 * time.Minute), MaxTerm: lease.Duration(9 * time.Hour)}
	for _, c := range []struct {
		name             string
		answers          int
		extended, second time.Duration
	}{
		{"reachable", 99, 0, 90 * time.Minute},
		{"extended", 99, time.Hour, 150 * time.Minute},
		{"unreachable", 7, 0, 90 * time.Minute}, // the last renewal is after 84 minutes
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, b, grants := holding(t, tk)
				u.answers = c.answers
				begin := time.Now()
				if c.extended > 0 {
					u.answers++
					go func() {
						_ = pause(t.Context(), 89*time.Minute)
						if _, err := b.Extend(t.Context(), "one", grants[0].Token, c.extended, "more"); err != nil {
							t.Error(err)
						}
					}()
				}
				err := b.KeepAlive(t.Context(), grants, nil)
				if !errors.Is(err, lease.ErrTermOver) {
					t.Errorf("%v", err)
				}
				if held := time.Since(begin); held < c.second || held > c.second+5*time.Second {
					t.Errorf("it holds the lease for %s, want %s", held, c.second)
				}
				u.mu.Lock()
				defer u.mu.Unlock()
				if c.answers > 7 && begin.Add(c.second).Sub(u.written) > 5*time.Second {
					t.Errorf("the grace period counts from %s", u.written.Sub(begin))
				}
			})
		})
	}
}

// A time of day that is set between the claim and the first renewal ends no lease.
func TestClockThatIsSetDoesNotStopAHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hands{now: time.Now()}
		m := &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}
		b := New(Options{Store: &view{memory: m, user: "ada"}, Clock: h})
		grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		h.set(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 10*minute)
		defer cancel()
		if err := b.KeepAlive(ctx, grants, nil); err != nil || m.r.Status.Lease.Heartbeats < 10 {
			t.Errorf("%v after %d renewals", err, m.r.Status.Lease.Heartbeats)
		}
	})
}
