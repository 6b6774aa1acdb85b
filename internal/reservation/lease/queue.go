package lease

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// compare orders tickets by priority, then by time. All reservations order the tickets of a group
// alike, so that two groups cannot wait for each other.
func compare(a, b Ticket) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.QueuedAt.Compare(b.QueuedAt.Time), cmp.Compare(a.ID, b.ID))
}

// Enqueue adds a ticket to the queue; a free reservation is offered at once. It is idempotent for
// one ticket.
func (r *Record) Enqueue(t Ticket, now time.Time) {
	if _, waits := r.Position(t.ID); waits || r.Lease != nil && r.Lease.ID == t.ID {
		return
	}
	t = t.trimmed()
	if t.QueuedAt.IsZero() {
		t.QueuedAt = micro(now)
	}
	r.insert(t)
	r.addEvent(now, Queued, t.Holder, 0, t.Purpose)
	r.offerNext(now)
}

func (r *Record) insert(t Ticket) {
	i, _ := slices.BinarySearchFunc(r.Queue, t, compare)
	r.Queue = slices.Insert(r.Queue, i, t)
}

// Position returns the index of a ticket in the queue, 0 for the head.
func (r *Record) Position(id string) (int, bool) {
	i := slices.IndexFunc(r.Queue, func(t Ticket) bool { return t.ID == id })
	return i, i >= 0
}

// Heartbeat records that a waiter, or the receiver of an offer, is alive.
func (r *Record) Heartbeat(id string) error {
	if i, waits := r.Position(id); waits {
		r.Queue[i].Heartbeats++
		return nil
	}
	if r.Lease.Offered() && r.Lease.ID == id {
		r.Lease.Heartbeats++
		return nil
	}
	return ErrTicketNotFound
}

// Cancel removes a ticket, also one that has an offer. A claimed lease must be released instead.
func (r *Record) Cancel(id, reason string, now time.Time) error {
	return r.dropTicket(id, Cancelled, reason, now)
}

// TimeOutTicket removes a ticket whose waiter sent no heartbeat within its timeout.
func (r *Record) TimeOutTicket(id string, now time.Time) error {
	return r.dropTicket(id, WaitTimedOut, "no heartbeat", now)
}

func (r *Record) dropTicket(id string, what EventType, reason string, now time.Time) error {
	if i, waits := r.Position(id); waits {
		t := r.Queue[i]
		r.Queue = slices.Delete(r.Queue, i, i+1)
		r.addEvent(now, what, t.Holder, 0, reason)
		return nil
	}
	if r.Lease.Offered() && r.Lease.ID == id && r.State == Leased {
		l := r.Lease
		r.State, r.Lease = Free, nil
		r.addEvent(now, what, l.Holder, l.Token, reason)
		r.offerNext(now)
		return nil
	}
	return ErrTicketNotFound
}

// offerNext offers a free reservation to the head of the queue. An offer to a group is withdrawn
// for a ticket ahead of it: a group that waits for other reservations never blocks a ticket that
// it may itself wait for.
func (r *Record) offerNext(now time.Time) {
	if len(r.Queue) == 0 {
		return
	}
	if r.CurrentState() == Leased && r.Lease.Offered() && len(r.Lease.Group) > 1 && compare(r.Queue[0], r.Lease.Ticket) < 0 {
		l := r.Lease
		r.State, r.Lease = Free, nil
		r.addEvent(now, Yielded, l.Holder, l.Token, fmt.Sprintf("to %s, who is ahead of it", r.Queue[0].Holder))
		r.insert(l.Ticket)
	}
	if r.CurrentState() != Free {
		return
	}
	t := r.Queue[0]
	r.Queue = slices.Delete(slices.Clone(r.Queue), 0, 1)
	r.State = Leased
	r.Lease = &Lease{Ticket: t, Token: r.grant(t.ID, now), GrantedAt: micro(now)}
	r.addEvent(now, Offered, t.Holder, r.Token, t.Purpose)
}

// grant makes the next token: the time, or, if the tokens are ahead of the clock, the last token
// plus an amount derived from the ticket and the time. If it only counted up, a restored store
// would grant lost tokens again.
func (r *Record) grant(id string, now time.Time) int64 {
	if ms := now.UnixMilli(); ms > r.Token {
		r.Token = ms
		return r.Token
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", id, now.UnixNano()) // Write never fails
	r.Token += 1 + int64(h.Sum64()%tokenSpread)        //nolint:gosec // less than tokenSpread
	return r.Token
}

// tokenSpread bounds the distance of two tokens that are ahead of the clock.
const tokenSpread = 1 << 20

// Timeout returns how long a ticket is valid without a heartbeat.
func (t Ticket) Timeout() time.Duration {
	return cmp.Or(t.WaitTimeout.Duration, t.RenewInterval.Duration, DefaultWaitTimeout)
}

// TimeoutAt returns the timeout of a ticket at a position in the queue. Every heartbeat
// writes the whole record, so a long queue of frequent heartbeats would delay them all until
// tickets are lost. Tickets near the head keep their timeout; it doubles with each doubling
// of the position, up to a factor of 16 at position 64 and to longestTimeout. The queue counts a dead
// ticket for that long, and its shorter timeout begins when it moves up.
func (t Ticket) TimeoutAt(position int) time.Duration {
	own := t.Timeout()
	doubled := own << min(bits.Len(uint(max(position, 0)/nearHead)), 4) //nolint:gosec // not negative
	return max(own, min(doubled, longestTimeout))
}

const (
	// nearHead is the number of tickets that keep their timeout.
	nearHead = 8
	// longestTimeout bounds the timeout of tickets further back whose own is shorter.
	longestTimeout = 10 * time.Minute
)

// DefaultWaitTimeout applies to tickets that state no timeout.
const DefaultWaitTimeout = 2 * time.Minute

// Duration wraps d for the fields of a ticket.
func Duration(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
