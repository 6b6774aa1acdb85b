package broker

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// On a busy machine the heartbeats of a long queue are late. Only tickets near the head time out
// after their own timeout, and a ticket that moves up gets its whole shorter timeout.
func TestDeepTicketsHaveLongerTimeouts(t *testing.T) {
	t.Parallel()
	m := &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}
	clock := &hands{now: time.Now()}
	b := New(Options{Store: &view{memory: m, user: "ada"}, Clock: clock})
	for i := range 100 {
		ticket := lease.Ticket{ID: fmt.Sprint(i), Holder: "ada", User: "ada", RenewInterval: lease.Duration(minute)}
		m.r.Status.Enqueue(ticket, clock.now.Add(time.Duration(i)*time.Second))
	}
	queued := func(after time.Duration, want int) {
		t.Helper()
		clock.pass(after)
		if err := b.ExpireOverdue(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		if got := len(m.r.Status.Queue); got != want {
			t.Fatalf("%d tickets are queued, want %d", got, want)
		}
	}
	queued(0, 99)
	queued(minute, 91) // the offer and 8 tickets timed out, one of them after the next offer
	if first := m.r.Status.Queue[0].ID; first != "9" {
		t.Errorf("ticket %s is first, want 9", first)
	}
	queued(minute/2, 91) // the tickets that moved up
	queued(minute*3/4, 91)
	queued(minute/4, 83)
}
