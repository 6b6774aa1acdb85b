package report

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var states = []lease.State{lease.Free, lease.Leased, lease.Dirty, lease.Cleaning}

// eventTypes has all event types. Each has a series from the start: Prometheus sees no increase
// from an absent series to 1.
var eventTypes = []lease.EventType{
	lease.Queued, lease.Offered, lease.Claimed, lease.Extended, lease.Notified, lease.Released, lease.Expired, lease.Evicted,
	lease.Published, lease.CheckedOut, lease.CheckedIn, lease.Cancelled, lease.WaitTimedOut, lease.Yielded, lease.Returned,
	lease.CleanStarted, lease.Cleaned, lease.CleanFailed, lease.Restored, lease.Quarantined,
}

func (s *sink) reservation(r *store.Reservation, now time.Time) {
	rec := &r.Status.Record
	for _, one := range states {
		s.flag(state, rec.CurrentState() == one, r.Name, r.Spec.Cloud, string(one))
	}
	s.gauge(highest, float64(rec.Token), r.Name)
	if l := rec.Lease; l != nil && !l.Offered() {
		s.gauge(holderInfo, 1, r.Name, shortHolder(l.Holder), cmp.Or(l.Class, "people"))
		if l.ExpiresAt != nil {
			s.gauge(leaseUntil, unixSeconds(l.ExpiresAt.Time), r.Name)
		}
		if l.TermEndsAt != nil {
			s.gauge(leaseEnds, unixSeconds(l.TermEndsAt.Time), r.Name)
		}
	}
	s.queue(r.Name, rec.Queue, now)
	attempts, byHand := 0, false
	if d := rec.DirtyInfo; d != nil {
		attempts, byHand = d.Attempts, d.ManualOnly
		s.gauge(dirtySince, unixSeconds(d.Since.Time), r.Name)
	}
	s.gauge(cleanAttempts, float64(attempts), r.Name)
	s.flag(blocked, byHand, r.Name)
}

func (s *sink) queue(name string, waiting []lease.Ticket, now time.Time) {
	s.gauge(queueLength, float64(len(waiting)), name)
	longest := time.Duration(-1)
	for _, t := range waiting {
		longest = max(longest, now.Sub(t.QueuedAt.Time), 0)
	}
	if longest >= 0 {
		s.gauge(oldestWaiter, longest.Seconds(), name)
	}
}

// longestHolder is the longest holder name in a label, in characters.
const longestHolder = 64

func shortHolder(holder string) string {
	if r := []rune(holder); len(r) > longestHolder {
		return string(r[:longestHolder-1]) + "…"
	}
	return holder
}

func (s *sink) transitions(name string, c *eventCounts) {
	for _, what := range eventTypes {
		s.add(transitionsTotal, prometheus.CounterValue, float64(c.of[what]), name, string(what))
	}
}
