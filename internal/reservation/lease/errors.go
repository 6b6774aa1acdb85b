package lease

import (
	"errors"
	"fmt"
)

// Errors that callers decide on.
var (
	// ErrNoTicket: there is no such ticket, and no lease of it.
	ErrTicketNotFound = errors.New("no such ticket")
	// ErrNotOffered: the ticket still waits.
	ErrNotOffered = errors.New("not offered yet")
	// ErrOver: the lease has come to its end and can not be renewed.
	ErrTermOver = errors.New("the lease is over")
	// ErrLimit: the lease can not be extended that far.
	ErrPastMaxTerm = errors.New("past the limit of the lease")
	// ErrNotDirty: there is nothing to clean.
	ErrNotDirty = errors.New("nothing to clean")
	// ErrNotExpired: the lease is still good.
	ErrNotExpired = errors.New("not expired")
)

// NotHolderError refuses a change to the lease of another user.
type NotHolderError struct {
	Holder, User string // who has the lease
	Caller       string // who wants to change it
}

func (e *NotHolderError) Error() string {
	return fmt.Sprintf("%s holds it as user %s, and you are user %s: only the holder or an operator may change the lease", e.Holder, e.User, e.Caller)
}

// StaleError refuses a token that is not the one of the lease there is.
type StaleError struct {
	Token, Highest int64
	State          State
	Holder         string // who has it now; empty: nobody
}

// Unknown tells that this store never granted the token.
func (e *StaleError) Unknown() bool { return e.Token > e.Highest }

func (e *StaleError) Error() string {
	who := "nobody holds it"
	if e.Holder != "" {
		who = e.Holder + " holds it"
	}
	if e.Unknown() {
		return fmt.Sprintf("token %d was not granted by this store: the highest granted is %d, the reservation is %s, %s; "+
			"the token is mistyped, of another store, or the store was restored from a backup, which an operator confirms with reservation confirm-restore", e.Token, e.Highest, e.State, who)
	}
	return fmt.Sprintf("token %d is stale: the highest granted is %d, the reservation is %s, %s", e.Token, e.Highest, e.State, who)
}
