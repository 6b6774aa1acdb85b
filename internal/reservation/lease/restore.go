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
const maxTokenLead = 365 * 24 * 60 * 60 * 1000

// ConfirmRestore makes the reservation dirty because an operator says that the store was
// restored from a backup that does not know a token. Whoever the backup says holds the
// reservation may not be alone. A token alone is no proof of that: it may be mistyped, or
// of another store. Confirmed again, it is confirmed.
func (r *Record) ConfirmRestore(token int64, reason string, now time.Time) error {
	known := r.Token
	if r.Token == token && slices.ContainsFunc(r.Recent, func(t Event) bool { return t.Type == Restored }) && r.CurrentState() == Dirty {
		return nil
	}
	if token <= known {
		return fmt.Errorf("%w: %d is not newer than the highest granted, %d", ErrNotNewer, token, known)
	}
	if token >= max(known, now.UnixMilli())+maxTokenLead {
		return fmt.Errorf("%w: %d is more than a year ahead of the highest granted, %d, and of the clock", ErrNotNewer, token, known)
	}
	r.Token = token
	if l := r.Lease; r.CurrentState() == Leased && l.Offered() { // its ticket was told nothing yet and waits on
		r.State, r.Lease = Free, nil
		r.insert(l.Ticket)
		r.addEvent(now, Yielded, l.Holder, l.Token, "nothing can be offered")
	}
	r.markDirty(now, Restored, fmt.Sprintf("token %d was granted, and the highest known was %d: %s", token, known, reason))
	return nil
}
