package lease

import (
	"fmt"
	"slices"
	"time"
)

// Clean begins to clean what is dirty: cleaning is a lease of its own, of the
// cleaner. The same ticket again is the same lease.
func (r *Record) Clean(t Ticket, now time.Time) (Lease, error) {
	if r.Now() == Cleaning && r.Lease.ID == t.ID {
		return *r.Lease, nil
	}
	if r.Now() != Dirty {
		return Lease{}, fmt.Errorf("%w: the reservation is %s", ErrNotDirty, r.Now())
	}
	r.State = Cleaning
	r.Lease = &Lease{Ticket: t, Token: r.grant(t.ID, now), Granted: micro(now), Claimed: at(now)}
	r.Lease.prolong(now)
	r.note(now, CleanBegun, t.Holder, r.Token, r.Dirt.Why)
	return *r.Lease, nil
}

func (r *Record) cleans(token int64) (*Lease, error) {
	if r.Now() == Cleaning && r.Lease.Token == token {
		return r.Lease, nil
	}
	return nil, r.staleError(token)
}

// RenewClean says that the cleaner is still at it.
func (r *Record) RenewClean(token int64, now time.Time) (Lease, error) {
	l, err := r.cleans(token)
	if err != nil {
		return Lease{}, err
	}
	l.Heard++
	l.prolong(now)
	return *l, nil
}

// FinishClean frees what was cleaned, and offers it to who waits.
func (r *Record) FinishClean(token int64, why string, now time.Time) error {
	if r.happened(Cleaned, token) {
		return nil
	}
	l, err := r.cleans(token)
	if err != nil {
		return err
	}
	holder := l.Holder
	r.State, r.Lease, r.Dirt = Free, nil, nil
	r.note(now, Cleaned, holder, token, why)
	r.settle(now)
	return nil
}

// FailClean leaves the reservation dirty. Failed again, it has failed once.
func (r *Record) FailClean(token int64, why string, now time.Time) error {
	if slices.ContainsFunc(r.Recent, func(t Transition) bool { return t.What == CleanFailed && t.Token == token && t.Why == why }) {
		return nil // not where it failed for its cleaner's silence
	}
	l, err := r.cleans(token)
	if err != nil {
		return err
	}
	holder := l.Holder
	r.State, r.Lease = Dirty, nil
	r.Dirt.Attempts++
	r.Dirt.Failure = why
	r.note(now, CleanFailed, holder, token, why)
	return nil
}
