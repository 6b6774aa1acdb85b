package broker

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// late is a store that loses the answer to the first change and writes it before the second, which conflicts then.
type late struct {
	*view
	first *store.Reservation
	then  func()
}

func (l *late) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	switch {
	case l.first == nil:
		l.first = r
		return nil, syscall.ECONNRESET
	case l.then != nil:
		if _, err := l.view.Save(ctx, l.first); err != nil {
			return nil, err
		}
		l.then()
		l.then = nil
	}
	return l.view.Save(ctx, r)
}

// A notice whose answer was lost and that is written late is not given again: its holder has extended the lease since,
// and would not be warned of the new end.
func TestStepThatIsWrittenLateHasOneEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}, user: "ada", operators: []string{"ada"}}
		holder := New(Options{Store: seen})
		got, err := holder.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: lease.Ticket{Holder: "ada", Term: lease.Duration(time.Hour)}})
		if err != nil {
			t.Fatal(err)
		}
		token := got[0].Token
		l := &late{view: seen, then: func() {
			if _, err := holder.Extend(t.Context(), "one", token, time.Minute, "more"); err != nil {
				t.Error(err)
			}
		}}
		if err := New(Options{Store: l}).Notify(t.Context(), "one", token, "controller", "its term ends", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		notices := 0
		for _, e := range seen.r.Status.Recent {
			if e.Type == lease.Notified {
				notices++
			}
		}
		if n := seen.r.Status.Lease.Notice; notices != 1 || n != nil {
			t.Errorf("%d notices, the lease has %+v", notices, n)
		}
	})
}
