package lease

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// compare orders tickets: the higher priority first, then who asked first. All
// reservations order the tickets of a group alike, so that no two groups can wait for
// each other.
func compare(a, b Ticket) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.QueuedAt.Compare(b.QueuedAt.Time), cmp.Compare(a.ID, b.ID))
}

// Enqueue gives somebody a place in the queue; what is free is offered at once. The
// same ticket again changes nothing.
func (r *Record) Enqueue(t Ticket, now time.Time) {
	if _, waits := r.Position(t.ID); waits || r.Lease != nil && r.Lease.ID == t.ID {
		return
	}
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

// Position is a ticket's place in the queue, 0 for the next.
func (r *Record) Position(id string) (int, bool) {
	i := slices.IndexFunc(r.Queue, func(t Ticket) bool { return t.ID == id })
	return i, i >= 0
}

// Heard notes that a waiter, or who is offered the lease, is still there.
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

// Leave takes a ticket back, also where it is offered the lease. What is claimed is
// released, not left.
func (r *Record) Cancel(id, reason string, now time.Time) error {
	return r.dropTicket(id, Cancelled, reason, now)
}

// Lose drops a ticket of somebody who was not heard of for its Patience.
func (r *Record) TimeOutTicket(id string, now time.Time) error {
	return r.dropTicket(id, WaitTimedOut, "not heard of", now)
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

// settle offers what is free to the head of the queue. What is offered to a group goes
// to a ticket before it: a group that waits for others never stands in the way of
// somebody who may wait for it.
func (r *Record) offerNext(now time.Time) {
	if len(r.Queue) == 0 {
		return
	}
	if r.CurrentState() == Leased && r.Lease.Offered() && len(r.Lease.Group) > 1 && compare(r.Queue[0], r.Lease.Ticket) < 0 {
		l := r.Lease
		r.State, r.Lease = Free, nil
		r.addEvent(now, Yielded, l.Holder, l.Token, fmt.Sprintf("to %s, who is before it", r.Queue[0].Holder))
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

// grant makes the next token: the time, or, where tokens are ahead of the clock, so much
// more than the last as the ticket and the moment say. Counting on by one, a store that
// was restored from a backup would grant the tokens again that it has forgotten.
func (r *Record) grant(id string, now time.Time) int64 {
	if ms := now.UnixMilli(); ms > r.Token {
		r.Token = ms
		return r.Token
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", id, now.UnixNano()) // it never fails
	r.Token += 1 + int64(h.Sum64()%tokenSpread)        //nolint:gosec // less than strides
	return r.Token
}

// strides is how far apart two tokens may be that are ahead of the clock.
const tokenSpread = 1 << 20

// Wait is how long a ticket is good without being heard of.
func (t Ticket) Timeout() time.Duration {
	return cmp.Or(t.WaitTimeout.Duration, t.RenewInterval.Duration, DefaultWaitTimeout)
}

// DefaultPatience is how long somebody who states nothing may be silent in a queue.
const DefaultWaitTimeout = 2 * time.Minute

// Spans is short for a duration in a ticket.
func Duration(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
