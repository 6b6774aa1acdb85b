package lease

import (
	"fmt"
	"slices"
	"time"
)

// Claim takes what is offered to a ticket. Claimed again, it is the same lease.
func (r *Record) Claim(id string, now time.Time) (Lease, error) {
	if r.Lease == nil || r.Lease.ID != id || r.Now() != Leased {
		if i, waits := r.Position(id); waits {
			return Lease{}, fmt.Errorf("%w: %d before it", ErrNotOffered, i)
		}
		return Lease{}, ErrNoTicket
	}
	l := r.Lease
	if !l.Offered() {
		return *l, nil
	}
	l.Claimed = at(now)
	if l.Term.Duration > 0 {
		l.Ends = at(now.Add(l.Term.Duration))
	}
	if l.Limit.Duration > 0 {
		l.Last = at(now.Add(l.Limit.Duration))
	}
	l.prolong(now)
	r.note(now, Claimed, l.Holder, l.Token, l.Purpose)
	return *l, nil
}

// prolong sets the end that the holder has to be heard of before.
func (l *Lease) prolong(now time.Time) {
	switch {
	case l.Period.Duration == 0:
		l.Until = l.Ends
	case l.Ends != nil && l.Ends.Time.Before(now.Add(l.Period.Duration)):
		l.Until = l.Ends
	default:
		l.Until = at(now.Add(l.Period.Duration))
	}
}

// held finds the claimed lease of a token.
func (r *Record) held(token int64) (*Lease, error) {
	if r.Now() == Leased && !r.Lease.Offered() && r.Lease.Token == token {
		return r.Lease, nil
	}
	return nil, r.staleError(token)
}

// Check refuses a token that is not the one of a lease that is held, or cleaned under.
func (r *Record) Check(token int64) error {
	if r.Lease != nil && (r.Now() != Leased || !r.Lease.Offered()) && r.Lease.Token == token {
		return nil
	}
	return r.staleError(token)
}

func (r *Record) staleError(token int64) *StaleError {
	e := &StaleError{Token: token, Highest: r.Token, State: r.Now()}
	if r.Lease != nil {
		e.Holder = r.Lease.Holder
	}
	return e
}

// soil ends what lease there is and makes the reservation dirty.
func (r *Record) soil(now time.Time, what What, why string) {
	d := Dirt{Since: micro(now), Why: why}
	who, token := "", int64(0)
	if l := r.Lease; l != nil {
		who, token = l.Holder, l.Token
		d.Holder, d.Token = who, token
	}
	if r.Dirt != nil { // cleaning was begun: the first reason stays
		d.Since, d.Holder, d.Token, d.Attempts = r.Dirt.Since, r.Dirt.Holder, r.Dirt.Token, r.Dirt.Attempts
	}
	r.State, r.Lease, r.Dirt = Dirty, nil, &d
	r.note(now, what, who, token, why)
}

// Renew says that the holder is still at it.
func (r *Record) Renew(token int64, now time.Time) (Lease, error) {
	l, err := r.held(token)
	if err != nil {
		return Lease{}, err
	}
	if l.Ends != nil && !now.Before(l.Ends.Time) {
		return *l, fmt.Errorf("%w since %s", ErrOver, l.Ends.UTC().Format(time.RFC3339))
	}
	l.Heard++
	l.prolong(now)
	return *l, nil
}

// Extend moves the end of a lease that has one, as far as its limit. The end is
// stated, so that a request that comes twice extends once.
func (r *Record) Extend(token int64, to time.Time, why string, now time.Time) (Lease, error) {
	l, err := r.held(token)
	if err != nil {
		return Lease{}, err
	}
	if l.Ends == nil || l.Ends.Time.Equal(micro(to).Time) {
		return *l, nil // it lasts as long as it is renewed, or is extended already
	}
	if to.Before(l.Ends.Time) {
		return *l, fmt.Errorf("%w: it ends at %s, later than %s", ErrLimit, l.Ends.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	if l.Last != nil && to.After(l.Last.Time) {
		return *l, fmt.Errorf("%w: it may last until %s at most, %s more", ErrLimit, l.Last.UTC().Format(time.RFC3339), max(0, l.Last.Sub(l.Ends.Time)))
	}
	l.Ends, l.Notice = at(to), nil
	l.Heard++
	l.prolong(now)
	r.note(now, Extended, l.Holder, l.Token, why)
	return *l, nil
}

// Notify asks the holder of a lease to be gone by a time.
func (r *Record) Notify(token int64, n Notice, now time.Time) error {
	l, err := r.held(token)
	if err != nil {
		return err
	}
	l.Notice = &n
	r.note(now, Noticed, l.Holder, l.Token, fmt.Sprintf("%s asks for it by %s: %s", n.By, n.At.UTC().Format(time.RFC3339), n.Why))
	return nil
}

// Release ends a lease. What was used is dirty, unless nothing has to be cleaned.
// Released again, it is released.
func (r *Record) Release(token int64, clean bool, why string, now time.Time) error {
	if r.happened(Released, token) {
		return nil
	}
	l, err := r.held(token)
	if err != nil {
		return err
	}
	if !clean {
		r.soil(now, Released, why)
		return nil
	}
	holder := l.Holder
	r.State, r.Lease = Free, nil
	r.note(now, Released, holder, token, why)
	r.settle(now)
	return nil
}

// happened finds something in the newest history.
func (r *Record) happened(what What, token int64) bool {
	return token != 0 && slices.ContainsFunc(r.Recent, func(t Transition) bool { return t.What == what && t.Token == token })
}

// Return gives back, unused, what a group claimed that did not get all of its
// reservations. Its ticket waits again, at its old place. Returned again, it is
// returned.
func (r *Record) Return(token int64, now time.Time) error {
	if r.happened(Returned, token) {
		return nil
	}
	l, err := r.held(token)
	if err != nil {
		return err
	}
	t := l.Ticket
	r.State, r.Lease = Free, nil
	r.insert(t)
	r.note(now, Returned, t.Holder, token, "the group did not get all")
	r.settle(now)
	return nil
}

// Expire ends a lease of which its holder was not heard in time. Who calls it has
// watched for that long; see package broker.
func (r *Record) Expire(token int64, why string, now time.Time) error {
	if r.Lease == nil || r.Lease.Token != token {
		return r.staleError(token)
	}
	if r.Now() == Leased && r.Lease.Offered() {
		return r.Lose(r.Lease.ID, now)
	}
	if r.Now() == Cleaning {
		return r.FailClean(token, why, now)
	}
	r.soil(now, Expired, why)
	return nil
}

// Evict ends the lease of a token in somebody's name. Evicted again, it is evicted.
func (r *Record) Evict(token int64, by, why string, now time.Time) error {
	if r.happened(Evicted, token) {
		return nil
	}
	if _, err := r.held(token); err != nil {
		return err
	}
	r.soil(now, Evicted, fmt.Sprintf("by %s: %s", by, why))
	return nil
}

// Impound ends a lease under which something was found that is not its holder's. The
// reservation stays dirty until somebody is told to clean it.
func (r *Record) Impound(token int64, why string, now time.Time) error {
	if r.happened(Blocked, token) {
		return nil
	}
	if _, err := r.held(token); err != nil {
		return err
	}
	r.soil(now, Blocked, why)
	r.Dirt.ByHand = true
	return nil
}

// Block makes what is free dirty: somebody found it in use without a lease.
func (r *Record) Block(by, why string, now time.Time) {
	if r.Now() == Free {
		r.soil(now, Blocked, fmt.Sprintf("by %s: %s", by, why))
		r.Dirt.ByHand = true
	}
}
