package lease

import (
	"testing"
	"time"
)

// A thousand waiters together send fewer than four heartbeats a second, and a ticket near the
// head still times out after its own timeout.
func TestTimeoutAt(t *testing.T) {
	t.Parallel()
	ticket := Ticket{RenewInterval: Duration(time.Minute)}
	for position, want := range map[int]int{0: 1, 7: 1, 8: 2, 15: 2, 16: 4, 32: 8, 63: 8, 64: 10, 1999: 10} {
		if got := ticket.TimeoutAt(position); got != time.Duration(want)*time.Minute {
			t.Errorf("position %d: %s, want %s", position, got, time.Duration(want)*time.Minute)
		}
	}
	slow := Ticket{WaitTimeout: Duration(time.Hour)}
	if got := slow.TimeoutAt(1999); got != time.Hour {
		t.Errorf("a ticket with a long timeout of its own: %s, want 1h", got)
	}
	perSecond := 0.0
	for position := range 1000 {
		perSecond += 2 / ticket.TimeoutAt(position).Seconds()
	}
	if perSecond > 4 {
		t.Errorf("1,000 waiters send %.1f heartbeats a second", perSecond)
	}
}
