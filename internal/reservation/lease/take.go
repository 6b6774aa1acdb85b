package lease

import (
	"errors"
	"fmt"
	"time"
)

// ErrNotOpen says that the lease is not one that others may take over.
var ErrNotOpen = errors.New("the lease can not be taken over")

// Stand turns a lease under which something was stood up into one that lasts until a
// time without being renewed, and that others may take over: people by day.
func (r *Record) Stand(token int64, ends, last time.Time, why string, now time.Time) (Lease, error) {
	l, err := r.held(token)
	if err != nil {
		return Lease{}, err
	}
	if l.Opener != "" {
		return *l, nil
	}
	l.Period.Duration, l.Ends, l.Last = 0, at(ends), at(last)
	l.Opener, l.OpenerUser, l.Open, l.Stands = l.Holder, l.User, true, l.Token
	l.Heard++
	l.prolong(now)
	r.note(now, Opened, l.Holder, l.Token, why)
	return *l, nil
}

// Take makes somebody the holder of a lease that is open. Its end and limit stay; its
// token is a new one. The same ticket again is the same lease.
func (r *Record) Take(t Ticket, now time.Time) (Lease, error) {
	l := r.Lease
	if r.Now() != Leased || l.Offered() || l.Opener == "" {
		return Lease{}, fmt.Errorf("%w: the reservation is %s", ErrNotOpen, r.Now())
	}
	if l.ID == t.ID {
		return *l, nil
	}
	if !l.Open {
		return Lease{}, fmt.Errorf("%w: %s has taken it", ErrNotOpen, l.Holder)
	}
	taken := *l
	t.Term, t.Limit, t.Period, t.Group = l.Term, l.Limit, l.Period, nil
	taken.Ticket, taken.Open, taken.Notice = t, false, nil
	taken.Token, taken.Granted, taken.Claimed = r.grant(t.ID, now), micro(now), at(now)
	r.Lease = &taken
	r.note(now, Taken, t.Holder, r.Token, t.Purpose)
	return taken, nil
}

// HandBack opens a lease again that was taken: what stands there stays.
func (r *Record) HandBack(token int64, why string, now time.Time) error {
	if r.happened(HandedBack, token) {
		return nil
	}
	l, err := r.held(token)
	if err != nil {
		return err
	}
	if l.Opener == "" || l.Open {
		return fmt.Errorf("%w back: it was not taken", ErrNotOpen)
	}
	who := l.Holder
	l.Holder, l.User, l.Purpose, l.Open, l.Notice = l.Opener, l.OpenerUser, "", true, nil
	l.ID += "-back" // the ticket that took it may not find it again
	l.Token, l.Granted, l.Claimed = r.grant(l.ID, now), micro(now), at(now)
	r.note(now, HandedBack, who, token, why)
	return nil
}
