package lease

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNotNewer refuses a token that does not show that the store was restored.
var ErrNotNewer = errors.New("the token does not show that the store was restored from a backup")

// tooFar ahead of the newest token, and of the clock, is none that was ever granted: a
// year, in milliseconds.
const tooFar = 365 * 24 * 60 * 60 * 1000

// ConfirmRestore makes the reservation dirty because an operator says that the store was
// restored from a backup that does not know a token. Whoever the backup says holds the
// reservation may not be alone. A token alone is no proof of that: it may be mistyped, or
// of another store. Confirmed again, it is confirmed.
func (r *Record) ConfirmRestore(token int64, why string, now time.Time) error {
	known := r.Token
	if r.Token == token && slices.ContainsFunc(r.Recent, func(t Transition) bool { return t.What == Restored }) && r.Now() == Dirty {
		return nil
	}
	if token <= known {
		return fmt.Errorf("%w: %d is not newer than the highest granted, %d", ErrNotNewer, token, known)
	}
	if token >= max(known, now.UnixMilli())+tooFar {
		return fmt.Errorf("%w: %d is more than a year ahead of the highest granted, %d, and of the clock", ErrNotNewer, token, known)
	}
	r.Token = token
	if l := r.Lease; r.Now() == Leased && l.Offered() { // its ticket was told nothing yet and waits on
		r.State, r.Lease = Free, nil
		r.insert(l.Ticket)
		r.note(now, Yielded, l.Holder, l.Token, "nothing can be offered")
	}
	r.soil(now, Restored, fmt.Sprintf("token %d was granted, and the highest known was %d: %s", token, known, why))
	return nil
}
