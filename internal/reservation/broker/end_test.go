package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Regression: leases were released one after another within 30 seconds in all, so that those after
// one without an answer were not released.
func TestLeaseWithoutAnswerDoesNotDelayTheReleaseOfOthers(t *testing.T) {
	const silent = 2 * maxAtEnd
	for doing, end := range map[string]func(ctx context.Context, b *Broker, grants []Grant) error{
		"release": func(ctx context.Context, b *Broker, grants []Grant) error { return b.ReleaseAll(ctx, grants, "done") },
		"return":  func(ctx context.Context, b *Broker, grants []Grant) error { return b.returnAll(ctx, grants) },
		"cancel the ticket for": func(ctx context.Context, b *Broker, grants []Grant) error {
			var names []string
			for _, g := range grants {
				names = append(names, g.Reservation)
			}
			return b.cancelTickets(ctx, names, grants[0].ID, "interrupted")
		},
	} {
		t.Run(doing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := map[string]Store{}
				var grants []Grant
				var last *view
				for i := range silent + 1 {
					name := fmt.Sprint("r", i)
					last = &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}}, user: "ada"}
					b := New(Options{Store: last, ID: func() string { return "ticket" }})
					got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
					if err != nil {
						t.Fatal(err)
					}
					u := &unreliable{view: last}
					if i == silent {
						u.answers, u.takes = 1, time.Second
					}
					grants, all[name] = append(grants, got...), u
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				err := end(ctx, New(Options{Store: several{Store: last, of: all}}), grants)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				for i := range silent + 1 {
					if has := strings.Contains(fmt.Sprint(err), fmt.Sprintf("%s r%d:", doing, i)); has != (i < silent) {
						t.Errorf("the error names r%d: %t", i, has)
					}
				}
				if l := last.r.Status.Lease; l != nil && !l.Offered() {
					t.Errorf("the lease of %s, which answers, is still held", last.r.Name)
				}
			})
		})
	}
}

// refusing is a store that refuses connections for some time.
type refusing struct {
	*view
	until time.Time
}

func (r *refusing) refused() error {
	if time.Now().Before(r.until) {
		return &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	return nil
}

func (r *refusing) GetUncached(ctx context.Context, name string) (*store.Reservation, error) {
	if err := r.refused(); err != nil {
		return nil, err
	}
	return r.Get(ctx, name)
}

func (r *refusing) Save(ctx context.Context, is *store.Reservation) (*store.Reservation, error) {
	if err := r.refused(); err != nil {
		return nil, err
	}
	return r.view.Save(ctx, is)
}

// A lease whose release was tried once, while the API server restarted, was held until it expired, and its reservation
// had to be cleaned; so were tickets.
func TestLeaseIsReleasedAfterARestartOfTheAPIServer(t *testing.T) {
	for _, c := range []struct {
		restart time.Duration
		want    error
	}{{releaseTimeout / 2, nil}, {2 * releaseTimeout, context.DeadlineExceeded}} {
		t.Run(c.restart.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &refusing{view: &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada"}}
				b := New(Options{Store: r})
				grants, err := b.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				r.until = begin.Add(c.restart)
				if err := b.ReleaseAll(t.Context(), grants, "done"); !errors.Is(err, c.want) {
					t.Errorf("after %s: %v", time.Since(begin), err)
				}
				if took := time.Since(begin); took > releaseTimeout+transientBackoff {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}
