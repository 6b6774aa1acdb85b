package broker

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// restarting is a store that loses an answer, and then does not answer some reads.
type restarting struct {
	*losing
	gets, histories int
}

func (r *restarting) GetUncached(ctx context.Context, name string) (*store.Reservation, error) {
	if r.then == nil && r.gets > 0 {
		r.gets--
		return nil, syscall.ECONNREFUSED
	}
	return r.losing.GetUncached(ctx, name)
}

func (r *restarting) History(ctx context.Context, name string, since time.Time) ([]lease.Event, error) {
	if r.histories > 0 {
		r.histories--
		return nil, syscall.ECONNREFUSED
	}
	return r.losing.History(ctx, name, since)
}

// An API server that restarts loses the answer to a write and refuses the reads that follow: the step is answered by
// what was written, and is not repeated by its caller. The time for it is bounded.
func TestReadsAfterALostAnswerAreRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		gets, histories int
		ends            bool
	}{
		"reservation": {3, 0, true},
		"history":     {0, 3, true},
		"never":       {1000, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada", operators: []string{"ada"}}
				others := New(Options{Store: seen})
				got, err := others.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: who("ada")})
				if err != nil {
					t.Fatal(err)
				}
				s := &restarting{gets: c.gets, histories: c.histories, losing: &losing{view: seen, then: func() {
					g, err := others.Clean(t.Context(), "one", who("eve"))
					if err == nil {
						err = others.FinishClean(t.Context(), "one", g.Token, "clean")
					}
					if err != nil {
						t.Error(err)
					}
					seen.archive()
				}}}
				begin := time.Now()
				err = New(Options{Store: s}).Quarantine(t.Context(), "one", got[0].Token, "in use")
				if c.ends && err != nil || !c.ends && !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begin); took > 32*time.Second || !c.ends && took < 25*time.Second {
					t.Errorf("it took %s", took)
				}
				if state := seen.r.Status.CurrentState(); state != lease.Free {
					t.Errorf("the reservation is %s", state)
				}
			})
		})
	}
}
