package lease

import (
	"errors"
	"fmt"
)

// Errors that callers decide on.
var (
	// ErrTicketNotFound: the record has neither a ticket nor a lease with this ID.
	ErrTicketNotFound = errors.New("ticket not found")
	// ErrNotOffered: the ticket is still in the queue.
	ErrNotOffered = errors.New("not offered yet")
	// ErrTermOver: the term of the lease has ended and the lease cannot be renewed.
	ErrTermOver = errors.New("the term of the lease is over")
	// ErrPastMaxTerm: the extension would exceed the maximum term.
	ErrPastMaxTerm = errors.New("past the maximum term of the lease")
	// ErrManualOnly: only an operator may clean the reservation.
	ErrManualOnly = errors.New("the reservation needs an operator")
	// ErrNotDirty: only a dirty reservation can be cleaned.
	ErrNotDirty = errors.New("the reservation is not dirty")
	// ErrNotExpired: the lease is still valid.
	ErrNotExpired = errors.New("not expired")
)

// NotHolderError refuses a change to the lease of another user.
type NotHolderError struct {
	Holder, User string // of the lease
	Caller       string // the user that requested the change
}

func (e *NotHolderError) Error() string {
	return fmt.Sprintf("%s holds the lease as user %s, and you are user %s: only the holder or an operator may change the lease", e.Holder, e.User, e.Caller)
}

// StaleError refuses a token that is not the token of the current lease.
type StaleError struct {
	Token, Highest int64
	State          State
	Holder         string // of the current lease; empty if absent
}

// Unknown reports whether this store never granted the token.
func (e *StaleError) Unknown() bool { return e.Token > e.Highest }

func (e *StaleError) Error() string {
	who := "it has no holder"
	if e.Holder != "" {
		who = e.Holder + " holds it"
	}
	if e.Unknown() {
		return fmt.Sprintf("token %d was not granted by this store: the highest granted is %d, the reservation is %s, %s; "+
			"the token is mistyped, belongs to another store, or the store was restored from a backup, which an operator confirms with reservation confirm-restore", e.Token, e.Highest, e.State, who)
	}
	return fmt.Sprintf("token %d is stale: the highest granted is %d, the reservation is %s, %s", e.Token, e.Highest, e.State, who)
}
