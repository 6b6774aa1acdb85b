package lease

import (
	"errors"
	"fmt"
)

// Errors that callers decide on.
var (
	// ErrNoTicket: there is no such ticket, and no lease of it.
	ErrNoTicket = errors.New("no such ticket")
	// ErrNotOffered: the ticket still waits.
	ErrNotOffered = errors.New("not offered yet")
	// ErrOver: the lease has come to its end and can not be renewed.
	ErrOver = errors.New("the lease is over")
	// ErrLimit: the lease can not be extended that far.
	ErrLimit = errors.New("past the limit of the lease")
	// ErrNotDirty: there is nothing to clean.
	ErrNotDirty = errors.New("nothing to clean")
	// ErrNotExpired: the lease is still good.
	ErrNotExpired = errors.New("not expired")
)

// StaleError refuses a token that is not the one of the lease there is.
type StaleError struct {
	Token, Highest int64
	State          State
	Holder         string // who has it now; empty: nobody
}

func (e *StaleError) Error() string {
	who := "nobody holds it"
	if e.Holder != "" {
		who = e.Holder + " holds it"
	}
	return fmt.Sprintf("token %d is stale: the highest granted is %d, the reservation is %s, %s", e.Token, e.Highest, e.State, who)
}
