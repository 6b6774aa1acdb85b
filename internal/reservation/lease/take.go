package lease

import (
	"errors"
	"fmt"
	"time"
)

// ErrNotAvailable means that the lease cannot be checked out or in.
var ErrNotAvailable = errors.New("the reservation is not available for checkout")

// Publish turns a lease with a provisioned deployment into one with a fixed term and no renewals,
// which others may check out.
func (r *Record) Publish(token int64, ends, last time.Time, reason string, now time.Time) (Lease, error) {
	l, err := r.heldLease(token)
	if err != nil {
		return Lease{}, err
	}
	if l.Publisher != "" {
		return *l, nil
	}
	l.RenewInterval.Duration, l.TermEndsAt, l.MaxEndsAt = 0, timePtr(ends), timePtr(last)
	l.Publisher, l.PublisherUser, l.Available, l.ProvisionedBy = l.Holder, l.User, true, l.Token
	l.Heartbeats++
	l.setExpiry(now)
	r.addEvent(now, Published, l.Holder, l.Token, reason)
	return *l, nil
}

// Checkout makes the ticket's owner the holder of a published lease. The term stays; the token is
// a new one. Checkout is idempotent for one ticket.
func (r *Record) Checkout(t Ticket, now time.Time) (Lease, error) {
	l := r.Lease
	if r.CurrentState() != Leased || l.Offered() || l.Publisher == "" {
		return Lease{}, fmt.Errorf("%w: the reservation is %s", ErrNotAvailable, r.CurrentState())
	}
	if l.ID == t.ID {
		return *l, nil
	}
	if !l.Available {
		return Lease{}, fmt.Errorf("%w: %s has checked it out", ErrNotAvailable, l.Holder)
	}
	taken := *l
	t = t.trimmed()
	t.Term, t.MaxTerm, t.RenewInterval, t.Group = l.Term, l.MaxTerm, l.RenewInterval, nil
	taken.Ticket, taken.Available, taken.Notice = t, false, nil
	taken.Token, taken.GrantedAt, taken.ClaimedAt = r.grant(t.ID, now), micro(now), timePtr(now)
	r.Lease = &taken
	r.addEvent(now, CheckedOut, t.Holder, r.Token, t.Purpose)
	return taken, nil
}

// Checkin makes a lease that was checked out available again. The deployment stays.
func (r *Record) Checkin(token int64, reason string, now time.Time) error {
	if r.hasRecent(CheckedIn, token) {
		return nil
	}
	l, err := r.heldLease(token)
	if err != nil {
		return err
	}
	if l.Publisher == "" || l.Available {
		return fmt.Errorf("%w: it is not checked out", ErrNotAvailable)
	}
	who := l.Holder
	l.Holder, l.User, l.Purpose, l.Available, l.Notice = l.Publisher, l.PublisherUser, "", true, nil
	l.ID += "-back" // the ticket of the checkout must not find the lease again
	l.Token, l.GrantedAt, l.ClaimedAt = r.grant(l.ID, now), micro(now), timePtr(now)
	r.addEvent(now, CheckedIn, who, token, reason)
	return nil
}
