package lease

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNotNewer refuses a token that does not prove a restored backup.
var ErrNotNewer = errors.New("the token does not show that the store was restored from a backup")

// maxTokenLead is a year in milliseconds. A token that far ahead of the newest token and of the
// clock was never granted.
const maxTokenLead = 365 * 24 * 60 * 60 * 1000

// ConfirmRestore makes the reservation dirty because an operator confirms that the store was
// restored from a backup that does not contain a token. The holder in the backup may not be the
// only one. The token alone does not prove it: it may be mistyped or belong to another store.
// ConfirmRestore is idempotent.
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
	if l := r.Lease; r.CurrentState() == Leased && l.Offered() { // the ticket has no result yet and returns to the queue
		r.State, r.Lease = Free, nil
		r.insert(l.Ticket)
		r.addEvent(now, Yielded, l.Holder, l.Token, "the offer is withdrawn")
	}
	r.markDirty(now, Restored, fmt.Sprintf("token %d was granted, and the highest known was %d: %s", token, known, reason))
	r.DirtyInfo.Token = token // also of a reservation that was dirty: the operator named the lease
	return nil
}
