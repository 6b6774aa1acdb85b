package lease

import (
	"fmt"
	"slices"
	"time"
)

// Claim accepts the offer to a ticket. It is idempotent.
func (r *Record) Claim(id string, now time.Time) (Lease, error) {
	if r.Lease == nil || r.Lease.ID != id || r.CurrentState() != Leased {
		if i, waits := r.Position(id); waits {
			return Lease{}, fmt.Errorf("%w: %d tickets are ahead of it", ErrNotOffered, i)
		}
		return Lease{}, ErrTicketNotFound
	}
	l := r.Lease
	if !l.Offered() {
		return *l, nil
	}
	l.ClaimedAt = timePtr(now)
	if l.Term.Duration > 0 {
		l.TermEndsAt = timePtr(now.Add(l.Term.Duration))
	}
	if l.MaxTerm.Duration > 0 {
		l.MaxEndsAt = timePtr(now.Add(l.MaxTerm.Duration))
	}
	l.setExpiry(now)
	r.addEvent(now, Claimed, l.Holder, l.Token, l.Purpose)
	return *l, nil
}

// setExpiry sets the time by which the holder must renew.
func (l *Lease) setExpiry(now time.Time) {
	switch {
	case l.RenewInterval.Duration == 0:
		l.ExpiresAt = l.TermEndsAt
	case l.TermEndsAt != nil && l.TermEndsAt.Time.Before(now.Add(l.RenewInterval.Duration)):
		l.ExpiresAt = l.TermEndsAt
	default:
		l.ExpiresAt = timePtr(now.Add(l.RenewInterval.Duration))
	}
}

// heldLease returns the claimed lease with this token.
func (r *Record) heldLease(token int64) (*Lease, error) {
	if r.CurrentState() == Leased && !r.Lease.Offered() && r.Lease.Token == token {
		return r.Lease, nil
	}
	return nil, r.staleError(token)
}

// Check refuses a token that is not the token of the current lease or cleaning lease.
func (r *Record) Check(token int64) error {
	if r.Lease != nil && (r.CurrentState() != Leased || !r.Lease.Offered()) && r.Lease.Token == token {
		return nil
	}
	return r.staleError(token)
}

func (r *Record) staleError(token int64) *StaleError {
	e := &StaleError{Token: token, Highest: r.Token, State: r.CurrentState()}
	if r.Lease != nil {
		e.Holder = r.Lease.Holder
	}
	return e
}

// markDirty ends the current lease, if any, and makes the reservation dirty.
func (r *Record) markDirty(now time.Time, what EventType, reason string) {
	d := DirtyInfo{Since: micro(now), Reason: TrimReason(reason), Token: r.Token}
	who, token := "", int64(0)
	if l := r.Lease; l != nil {
		who, token = l.Holder, l.Token
		d.Holder = who
	}
	if was := r.DirtyInfo; was != nil { // keep the first cause, and who may clean it
		d.Since, d.Holder, d.Token, d.Attempts, d.Failure, d.ManualOnly = was.Since, was.Holder, was.Token, was.Attempts, was.Failure, was.ManualOnly
	}
	r.State, r.Lease, r.DirtyInfo = Dirty, nil, &d
	r.addEvent(now, what, who, token, reason)
}

// Renew extends the time until which the lease is valid.
func (r *Record) Renew(token int64, now time.Time) (Lease, error) {
	l, err := r.heldLease(token)
	if err != nil {
		return Lease{}, err
	}
	if l.TermEndsAt != nil && !now.Before(l.TermEndsAt.Time) {
		return *l, fmt.Errorf("%w since %s", ErrTermOver, l.TermEndsAt.UTC().Format(time.RFC3339))
	}
	l.Heartbeats++
	l.setExpiry(now)
	return *l, nil
}

// Extend moves the end of a term, up to the maximum term. The new end is absolute, so that a
// repeated request extends once.
func (r *Record) Extend(token int64, to time.Time, reason string, now time.Time) (Lease, error) {
	l, err := r.heldLease(token)
	if err != nil {
		return Lease{}, err
	}
	if l.TermEndsAt == nil || l.TermEndsAt.Time.Equal(micro(to).Time) {
		return *l, nil // the lease has no term, or is extended already
	}
	if to.Before(l.TermEndsAt.Time) {
		return *l, fmt.Errorf("%w: it ends at %s, later than %s", ErrPastMaxTerm, l.TermEndsAt.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	if l.MaxEndsAt != nil && to.After(l.MaxEndsAt.Time) {
		return *l, fmt.Errorf("%w: the latest end is %s, %s more", ErrPastMaxTerm, l.MaxEndsAt.UTC().Format(time.RFC3339), max(0, l.MaxEndsAt.Sub(l.TermEndsAt.Time)))
	}
	l.TermEndsAt, l.Extended, l.Notice = timePtr(to), true, nil
	l.Heartbeats++
	l.setExpiry(now)
	r.addEvent(now, Extended, l.Holder, l.Token, reason)
	return *l, nil
}

// IsExtended reports whether a holder has moved the end of the current lease. An earlier version wrote only the event.
func (r *Record) IsExtended() bool {
	return r.Lease != nil && (r.Lease.Extended || r.hasRecent(Extended, r.Lease.Token))
}

// Notify asks the holder to release the lease by a time.
func (r *Record) Notify(token int64, n Notice, now time.Time) error {
	l, err := r.heldLease(token)
	if err != nil {
		return err
	}
	n.By, n.Reason = Trim(n.By, maxName), TrimReason(n.Reason)
	l.Notice = &n
	r.addEvent(now, Notified, l.Holder, l.Token, fmt.Sprintf("%s requests it by %s: %s", n.By, n.At.UTC().Format(time.RFC3339), n.Reason))
	return nil
}

// Release ends a lease. The reservation becomes dirty unless clean is set. Release is idempotent.
func (r *Record) Release(token int64, clean bool, reason string, now time.Time) error {
	if r.hasRecent(Released, token) {
		return nil
	}
	l, err := r.heldLease(token)
	if err != nil {
		return err
	}
	if !clean {
		r.markDirty(now, Released, reason)
		return nil
	}
	holder := l.Holder
	r.State, r.Lease = Free, nil
	r.addEvent(now, Released, holder, token, reason)
	r.offerNext(now)
	return nil
}

// hasRecent reports whether an event is in the recent history.
func (r *Record) hasRecent(what EventType, token int64) bool {
	return token != 0 && slices.ContainsFunc(r.Recent, func(t Event) bool { return t.Type == what && t.Token == token })
}

// Return gives back, unused, a lease of a group that could not claim all of its reservations. Its
// ticket returns to its old place in the queue. Return is idempotent.
func (r *Record) Return(token int64, now time.Time) error {
	if r.hasRecent(Returned, token) {
		return nil
	}
	l, err := r.heldLease(token)
	if err != nil {
		return err
	}
	t := l.Ticket
	r.State, r.Lease = Free, nil
	r.insert(t)
	r.addEvent(now, Returned, t.Holder, token, "the group was incomplete")
	r.offerNext(now)
	return nil
}

// Expire ends a lease whose holder did not renew it in time. The caller must have observed the
// silence for the whole interval; see package broker.
func (r *Record) Expire(token int64, reason string, now time.Time) error {
	if r.Lease == nil || r.Lease.Token != token {
		return r.staleError(token)
	}
	if r.CurrentState() == Leased && r.Lease.Offered() {
		return r.TimeOutTicket(r.Lease.ID, now)
	}
	if r.CurrentState() == Cleaning {
		return r.FailClean(token, reason, now)
	}
	r.markDirty(now, Expired, reason)
	return nil
}

// Evict ends the lease with this token on behalf of by. It is idempotent.
func (r *Record) Evict(token int64, by, reason string, now time.Time) error {
	if r.hasRecent(Evicted, token) {
		return nil
	}
	if _, err := r.heldLease(token); err != nil {
		return err
	}
	r.markDirty(now, Evicted, fmt.Sprintf("by %s: %s", by, reason))
	return nil
}

// Quarantine ends a lease because a deployment was found that is not its holder's. The reservation
// stays dirty until an operator cleans it.
func (r *Record) Quarantine(token int64, reason string, now time.Time) error {
	if r.hasRecent(Quarantined, token) {
		return nil
	}
	if _, err := r.heldLease(token); err != nil {
		return err
	}
	r.markDirty(now, Quarantined, reason)
	r.DirtyInfo.ManualOnly = true
	return nil
}

// QuarantineFree makes a free reservation dirty because it is in use without a lease.
func (r *Record) QuarantineFree(by, reason string, now time.Time) {
	if r.CurrentState() == Free {
		r.markDirty(now, Quarantined, fmt.Sprintf("by %s: %s", by, reason))
		r.DirtyInfo.ManualOnly = true
	}
}
