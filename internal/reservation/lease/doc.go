// Package lease is what may happen to a reservation: who holds it, who waits, and
// which step may follow which. It is pure: a Record, a step, a time.
//
//	free -> leased -> dirty -> cleaning -> free
//
// A lease is first offered to the ticket at the head of the queue, and is claimed
// by its holder. Only a claimed lease is told to anyone, so what was offered and never
// claimed is still clean. What expires is dirty: its holder may still be at it.
//
// Each grant, of a lease or of cleaning, has a token. Tokens of a reservation only
// grow; every later step carries one, and a stale one is refused. A token is the
// time of the grant in milliseconds since 1970: so they also grow over a store that was
// restored from a backup, which has forgotten the newest of them. Where the one before
// is not behind the clock, which somebody may have set back, the next is so much
// greater as the ticket and the moment say, and a restored store does not give the
// forgotten ones again either.
package lease
