// Package lease is the state machine of a reservation: its holder, its queue, and which step may
// follow which. It is pure: a Record, a step and a time.
//
//	free -> leased -> dirty -> cleaning -> free
//
// A lease is first offered to the ticket at the head of the queue and then claimed by its holder.
// Only a claimed lease is returned to a caller, so an offer that was never claimed leaves the
// reservation clean. An expired lease leaves it dirty, because its holder may still be running.
//
// Each grant, of a lease or of cleaning, has a fencing token. The tokens of a reservation only
// grow. Every later step carries a token, and a stale token is refused. A token is the time of the
// grant in milliseconds since 1970, so tokens also grow after the store was restored from a backup
// that does not contain the newest ones. If the previous token is not behind the clock (the clock
// may have been set back), the next token adds an amount derived from the ticket and the time, so
// that a restored store does not grant a lost token again.
package lease
