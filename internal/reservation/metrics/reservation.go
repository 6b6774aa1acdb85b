package metrics

import (
	"cmp"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var states = []lease.State{lease.Free, lease.Leased, lease.Dirty, lease.Cleaning}

// whats are all things that can happen. Each has a series from the start: an increase
// from nothing to 1 is none to Prometheus.
var whats = []lease.What{
	lease.Queued, lease.Offered, lease.Claimed, lease.Extended, lease.Noticed, lease.Released, lease.Expired, lease.Evicted,
	lease.Opened, lease.Taken, lease.HandedBack, lease.Left, lease.Lost, lease.Yielded, lease.Returned,
	lease.CleanBegun, lease.Cleaned, lease.CleanFailed, lease.Restored, lease.Blocked,
}

// reservation tells how one is now.
func (s *sink) reservation(r *store.Reservation, now time.Time) {
	rec := &r.Status.Record
	for _, one := range states {
		s.flag(state, rec.Now() == one, r.Name, r.Spec.Cloud, string(one))
	}
	s.gauge(highest, float64(rec.Token), r.Name)
	if l := rec.Lease; l != nil && !l.Offered() {
		s.gauge(holderInfo, 1, r.Name, short(l.Holder), cmp.Or(l.Class, "people"))
		if l.Until != nil {
			s.gauge(leaseUntil, stamp(l.Until.Time), r.Name)
		}
		if l.Ends != nil {
			s.gauge(leaseEnds, stamp(l.Ends.Time), r.Name)
		}
	}
	s.queue(r.Name, rec.Queue, now)
	attempts, byHand := 0, false
	if d := rec.Dirt; d != nil {
		attempts, byHand = d.Attempts, d.ByHand
		s.gauge(dirtySince, stamp(d.Since.Time), r.Name)
	}
	s.gauge(cleanAttempts, float64(attempts), r.Name)
	s.flag(blocked, byHand, r.Name)
}

func (s *sink) queue(name string, waiting []lease.Ticket, now time.Time) {
	s.gauge(queueLength, float64(len(waiting)), name)
	longest := time.Duration(-1)
	for _, t := range waiting {
		longest = max(longest, now.Sub(t.Since.Time), 0)
	}
	if longest >= 0 {
		s.gauge(oldestWaiter, longest.Seconds(), name)
	}
}

// longest name of a holder in a label, in characters.
const longestHolder = 64

func short(holder string) string {
	if r := []rune(holder); len(r) > longestHolder {
		return string(r[:longestHolder-1]) + "…"
	}
	return holder
}

func (s *sink) transitions(name string, c *counted) {
	for _, what := range whats {
		s.add(transitionsTotal, prometheus.CounterValue, float64(c.of[what]), name, string(what))
	}
}
