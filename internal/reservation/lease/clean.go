package lease

import (
	"fmt"
	"slices"
	"time"
)

// Clean starts cleaning a dirty reservation. Cleaning is a lease of its own, held by the cleaner.
// Clean is idempotent for one ticket.
func (r *Record) Clean(t Ticket, now time.Time) (Lease, error) {
	if r.CurrentState() == Cleaning && r.Lease.ID == t.ID {
		return *r.Lease, nil
	}
	if r.CurrentState() != Dirty {
		return Lease{}, fmt.Errorf("%w: the reservation is %s", ErrNotDirty, r.CurrentState())
	}
	if r.DirtyInfo == nil { // another writer left it out
		r.DirtyInfo = &DirtyInfo{Since: micro(now), Token: r.Token}
	}
	r.State = Cleaning
	r.Lease = &Lease{Ticket: t.trimmed(), Token: r.grant(t.ID, now), GrantedAt: micro(now), ClaimedAt: timePtr(now)}
	r.Lease.setExpiry(now)
	r.addEvent(now, CleanStarted, t.Holder, r.Token, r.DirtyInfo.Reason)
	return *r.Lease, nil
}

// CleanAutomatically is Clean for the controller: it refuses a reservation that only an operator
// may clean. A check before Clean is too early, since a guard may quarantine the reservation in
// between.
func (r *Record) CleanAutomatically(t Ticket, now time.Time) (Lease, error) {
	if d := r.DirtyInfo; r.CurrentState() == Dirty && d != nil && d.ManualOnly {
		return Lease{}, fmt.Errorf("%w: %s", ErrManualOnly, d.Reason)
	}
	return r.Clean(t, now)
}

// CleanLeftover is CleanAutomatically, also of a free reservation in which a deployment was found: it
// becomes dirty in the same step, and is cleaned by its finder. The finder has decided that the
// deployment can be removed, so a failed cleaning is repeated and needs no operator.
func (r *Record) CleanLeftover(t Ticket, reason string, now time.Time) (Lease, error) {
	if r.CurrentState() == Free {
		r.QuarantineFree(t.Holder, reason, now)
		r.DirtyInfo.ManualOnly = false
		return r.Clean(t, now)
	}
	return r.CleanAutomatically(t, now)
}

// CleanCommand returns the command by which an operator cleans a reservation.
func CleanCommand(name string) string {
	return "firstlight reservation rotation down --reservation " + name
}

// NeedsOperator says why only an operator may clean a reservation, and how.
func NeedsOperator(reason, name string) string {
	return reason + "; it needs an operator: " + CleanCommand(name)
}

func (r *Record) cleaningLease(token int64) (*Lease, error) {
	if r.CurrentState() == Cleaning && r.Lease.Token == token {
		return r.Lease, nil
	}
	return nil, r.staleError(token)
}

// RenewClean extends the cleaning lease.
func (r *Record) RenewClean(token int64, now time.Time) (Lease, error) {
	l, err := r.cleaningLease(token)
	if err != nil {
		return Lease{}, err
	}
	l.Heartbeats++
	l.setExpiry(now)
	return *l, nil
}

// FinishClean frees a cleaned reservation and offers it to the head of the queue. It is
// idempotent.
func (r *Record) FinishClean(token int64, reason string, now time.Time) error {
	if r.hasRecent(Cleaned, token) {
		return nil
	}
	l, err := r.cleaningLease(token)
	if err != nil {
		return err
	}
	holder := l.Holder
	r.State, r.Lease, r.DirtyInfo = Free, nil, nil
	r.addEvent(now, Cleaned, holder, token, reason)
	r.offerNext(now)
	return nil
}

// FailClean leaves the reservation dirty and counts the attempt. It is idempotent for one reason.
func (r *Record) FailClean(token int64, reason string, now time.Time) error {
	reason = TrimReason(reason)
	if slices.ContainsFunc(r.Recent, func(t Event) bool { return t.Type == CleanFailed && t.Token == token && t.Reason == reason }) {
		return nil // a cleaning lease that expired has failed already
	}
	l, err := r.cleaningLease(token)
	if err != nil {
		return err
	}
	holder := l.Holder
	r.State, r.Lease = Dirty, nil
	r.DirtyInfo.Attempts++
	r.DirtyInfo.Failure = reason
	r.addEvent(now, CleanFailed, holder, token, reason)
	return nil
}

// QuarantineClean ends a cleaning because a deployment was found that it must not remove. The
// reservation stays dirty until an operator cleans it.
func (r *Record) QuarantineClean(token int64, reason string, now time.Time) error {
	if r.hasRecent(Quarantined, token) {
		return nil
	}
	if _, err := r.cleaningLease(token); err != nil {
		return err
	}
	r.markDirty(now, Quarantined, reason)
	r.DirtyInfo.ManualOnly = true
	return nil
}
