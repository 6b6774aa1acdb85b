package broker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/proctree"
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
	if err := poll.Sleep(ctx, u.takes); err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.written = begin
	u.mu.Unlock()
	return u.view.Save(ctx, r)
}

func (u *unreliable) lastWrite() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.written
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
						_ = poll.Sleep(t.Context(), idle)
						u.answers, u.takes = answers, takes
						err := b.newKeeper(grants, nil).keep(t.Context())
						if !errors.Is(err, ErrRenewFailed) {
							t.Errorf("%v", err)
						}
						if used := time.Since(u.lastWrite()); used > max(minute*3/4, idle) {
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
		why              error
	}{
		{"reachable", 99, 0, 90 * time.Minute, lease.ErrTermOver},
		{"extended", 99, time.Hour, 150 * time.Minute, lease.ErrTermOver},
		{"unreachable", 7, 0, 90*time.Minute - lease.MaxStopTime, ErrRenewFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, b, grants := holding(t, tk)
				u.answers = c.answers
				begin := time.Now()
				if c.extended > 0 {
					u.answers++
					go func() {
						_ = poll.Sleep(t.Context(), 89*time.Minute)
						if _, err := b.Extend(t.Context(), "one", grants[0].Token, c.extended, "more"); err != nil {
							t.Error(err)
						}
					}()
				}
				err := b.newKeeper(grants, nil).keep(t.Context())
				if !errors.Is(err, c.why) {
					t.Errorf("%v", err)
				}
				if held := time.Since(begin); held < c.second || held > c.second+time.Second {
					t.Errorf("it holds the lease for %s, want %s", held, c.second)
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
		if err := b.newKeeper(grants, nil).keep(ctx); err != nil || m.r.Status.Lease.Heartbeats < 10 {
			t.Errorf("%v after %d renewals", err, m.r.Status.Lease.Heartbeats)
		}
	})
}

// out is a store that answers no write for some time.
type out struct {
	*view
	from, to time.Time

	mu      sync.Mutex
	written time.Time // the begin of the last write that was answered
}

func (o *out) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	begin := time.Now()
	if !begin.Before(o.from) && begin.Before(o.to) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written = begin
	return o.view.Save(ctx, r)
}

// Whenever the store is unreachable, the work has ended before the lease can be given to another:
// an interval after the last renewal, or after the term and the grace period of that renewal. An
// outage that ends in time costs the holder nothing.
func TestWorkEndsBeforeTheLeaseCanBeGivenAway(t *testing.T) {
	const term, grace = 90 * time.Minute, 30 * time.Second
	for _, interval := range []time.Duration{2 * time.Second, 10 * time.Second, minute, time.Hour} {
		for _, left := range []time.Duration{term - time.Millisecond, 20 * time.Minute, 70 * time.Second, 20 * time.Second, 6 * time.Second, time.Second} {
			for _, lasts := range []time.Duration{4 * time.Second, 30 * time.Second, term} {
				t.Run(fmt.Sprint(interval, " of ", left, " before the end for ", lasts), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o := &out{view: &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada"}}
						b := New(Options{Store: o, Grace: grace})
						ends := time.Now().Add(term)
						grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: lease.Ticket{
							Holder: "ada", RenewInterval: lease.Duration(interval), Term: lease.Duration(term),
						}})
						if err != nil {
							t.Fatal(err)
						}
						o.from, o.to = ends.Add(-left), ends.Add(lasts-left)
						lost := b.Hold(t.Context(), grants, nil, func(ctx context.Context) error { <-ctx.Done(); return nil })
						ended := time.Now().Add(lease.StopTime(interval))
						free := o.written.Add(grace)
						if free.Before(ends) {
							free = ends
						}
						if expires := o.written.Add(interval); expires.Before(free) {
							free = expires
						}
						if ended.After(free) {
							t.Errorf("%v: the work ends %s before the end of the term, the lease %s before it", lost, ends.Sub(ended), ends.Sub(free))
						}
						if !errors.Is(lost, lease.ErrTermOver) && lasts == 4*time.Second && interval >= minute && left > 10*time.Second {
							t.Errorf("the lease was lost to a short outage: %v", lost)
						}
					})
				})
			}
		}
	}
}

// The context of the work has the time until which its programs may run.
func TestDeadlineOfProgramsMovesWithEachRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, b, grants := holding(t, who("ada"))
		u.answers = 3
		lost := b.Hold(t.Context(), grants, nil, func(ctx context.Context) error {
			d := proctree.DeadlineOf(ctx)
			for range 3 {
				at, moved := d.At()
				if want := u.lastWrite().Add(lease.RenewFor(minute)); !at.Equal(want) || d.Grace(time.Hour) != lease.MaxStopTime {
					t.Errorf("the deadline is %s, want %s", at, want)
				}
				<-moved
			}
			at, _ := d.At()
			<-ctx.Done()
			if time.Now().After(at) {
				t.Errorf("the work is stopped %s after its deadline", time.Since(at))
			}
			return nil
		})
		if !errors.Is(lost, ErrRenewFailed) {
			t.Errorf("%v", lost)
		}
	})
}

// Regression: the time of a claim that was refused stayed, and counted when a restored store
// granted the token again.
func TestRefusedClaimDoesNotCountForALaterOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unreliable{view: &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada"}}
		b := New(Options{Store: u, Clock: stopped{at: time.Now()}})
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Acquire(late, Request{Reservations: []string{"one"}, Ticket: who("ada")}); err == nil {
			t.Fatal("the store answered")
		}
		_ = poll.Sleep(t.Context(), time.Hour)
		u.answers = 100
		grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithTimeout(t.Context(), minute)
		defer end()
		if lost := b.Hold(ctx, grants, nil, func(ctx context.Context) error { <-ctx.Done(); return nil }); lost != nil {
			t.Errorf("the lease was lost: %v", lost)
		}
	})
}

// stopped is a clock whose time of day does not pass, so that tokens repeat.
type stopped struct{ at time.Time }

func (c stopped) Now() time.Time         { return c.at }
func (c stopped) Elapsed() time.Duration { return time.Since(c.at) }

// dead is a store whose connection stops answering.
type dead struct {
	*out
	reconnected bool
}

func (d *dead) Reconnect() { d.to, d.reconnected = time.Now(), true }

// Requests over a connection whose other end is gone get no answer. The next one uses another.
func TestTimeoutOfARenewalClosesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dead{out: &out{view: &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada"}}}
		b := New(Options{Store: d})
		grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		d.from, d.to = time.Now(), time.Now().Add(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 10*minute)
		defer cancel()
		lost := b.Hold(ctx, grants, nil, func(ctx context.Context) error { <-ctx.Done(); return nil })
		if lost != nil || !d.reconnected {
			t.Errorf("reconnected: %t; the lease was lost: %v", d.reconnected, lost)
		}
	})
}

// several is a store in which each reservation answers in its own way.
type several struct {
	Store
	of map[string]Store
}

func (s several) Get(ctx context.Context, name string) (*store.Reservation, error) {
	return s.of[name].Get(ctx, name)
}

func (s several) GetUncached(ctx context.Context, name string) (*store.Reservation, error) {
	return s.of[name].GetUncached(ctx, name)
}

func (s several) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	return s.of[r.Name].Save(ctx, r)
}

// A lease that cannot be renewed does not keep the others from being renewed.
func TestSlowRenewalDoesNotDelayTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, _, grants := holding(t, who("ada"))
		two := &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "two"}}}, user: "ada"}
		more, err := New(Options{Store: two}).Acquire(t.Context(), Request{Reservations: []string{"two"}, Ticket: who("ada")})
		if err != nil {
			t.Fatal(err)
		}
		_ = poll.Sleep(t.Context(), time.Second)
		before := two.r.DeepCopy()
		var renewed []string
		b := New(Options{Store: several{Store: slow, of: map[string]Store{"one": slow, "two": two}}})
		k := b.newKeeper(append(grants, more...), func(g Grant) { renewed = append(renewed, g.Reservation) })
		if _, err := k.renewAll(t.Context(), 5*time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the renewal of one, which does not answer: %v", err)
		}
		if !slices.Equal(renewed, []string{"two"}) || reflect.DeepEqual(before.Status.Record, two.r.Status.Record) {
			t.Errorf("renewed %v, want two", renewed)
		}
	})
}

// The error of a lost lease has its cause and the error of the work. Work that succeeded may have
// ended the lease itself.
func TestErrorOfALostLeaseHasTheErrorOfTheWork(t *testing.T) {
	for _, failed := range []error{nil, errors.New("rank 3 exited")} {
		synctest.Test(t, func(t *testing.T) {
			_, b, grants := holding(t, who("ada"))
			err := b.Hold(t.Context(), grants, nil, func(ctx context.Context) error { <-ctx.Done(); return failed })
			var lost *LostError
			if !errors.As(err, &lost) || !errors.Is(lost.Cause, ErrRenewFailed) || !errors.Is(lost.Work, failed) || failed != nil && !errors.Is(err, failed) {
				t.Errorf("got %v, want the loss of the lease and %v", err, failed)
			}
			if got := IgnoreLostIfDone(err); (got == nil) != (failed == nil) {
				t.Errorf("got %v for work that ended with %v", got, failed)
			}
			_, b, grants = holding(t, who("ada"))
			err = b.Hold(t.Context(), grants, nil, func(context.Context) error { return failed })
			if !errors.Is(err, failed) || !errors.Is(IgnoreLostIfDone(err), failed) {
				t.Errorf("got %v from work that ended with %v in time", err, failed)
			}
		})
	}
}

// stuck is a store whose writes after the claim return only when released is closed, as in a process
// that has no CPU.
type stuck struct {
	*unreliable
	released chan struct{}
}

func (s stuck) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	saved, err := s.unreliable.Save(ctx, r)
	if err != nil {
		<-s.released
	}
	return saved, err
}

// Regression: the programs of the work got their SIGTERM at the deadline before the renewals were given
// up, and the work's own end was reported instead of the lost lease.
func TestWorkThatEndsAtItsDeadlineHasLostTheLease(t *testing.T) {
	for name, tt := range map[string]struct {
		early time.Duration
		lost  bool
	}{
		"at the deadline":     {lost: true},
		"after the deadline":  {early: -time.Millisecond, lost: true},
		"before the deadline": {early: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, _, grants := holding(t, who("ada"))
				s := stuck{unreliable: u, released: make(chan struct{})}
				signal := errors.New("signal: terminated")
				err := New(Options{Store: s}).Hold(t.Context(), grants, nil, func(ctx context.Context) error {
					defer time.AfterFunc(time.Second, func() { close(s.released) })
					at, _ := proctree.DeadlineOf(ctx).At()
					<-time.After(time.Until(at) - tt.early)
					return signal
				})
				if !errors.Is(err, signal) || errors.Is(err, ErrRenewFailed) != tt.lost {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
