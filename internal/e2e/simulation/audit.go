package simulation

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// unknownToken is a token that is not in the history.
const unknownToken = -1

// audit checks the complete history of a reservation, oldest first: lines are numbered without a
// gap, tokens grow with each grant, and leases do not overlap.
func audit(reservation string, all []lease.Event) (leases int, out []Finding) {
	var n, granted, holding int64
	var holder string
	find := func(t lease.Event, format string, args ...any) {
		out = append(out, newFinding(fmt.Sprintf("%s, line %d", reservation, t.N), fmt.Sprintf(format, args...)))
	}
	for _, t := range all {
		if t.N != n+1 {
			find(t, "the previous line is %d", n)
		}
		n = t.N
		switch t.Type {
		case lease.Claimed, lease.CleanStarted, lease.CheckedOut:
			if holding != 0 && t.Type != lease.CheckedOut {
				find(t, "%s got the lease with token %d, but %s has it with token %d", t.Actor, t.Token, holder, holding)
			}
			if t.Token <= granted {
				find(t, "token %d was granted after %d", t.Token, granted)
			}
			granted, holding, holder = t.Token, t.Token, t.Actor
			leases++
		case lease.CheckedIn: // the publisher has it again, with a token that is not in the line
			if t.Token != holding {
				find(t, "%s checked in the lease of %s", t.Actor, holder)
			}
			holding, holder = unknownToken, "the publisher"
		case lease.Released, lease.Expired, lease.Evicted, lease.Returned, lease.Cleaned, lease.CleanFailed, lease.Quarantined, lease.Restored:
			if t.Token != 0 && holding != 0 && holding != unknownToken && t.Token != holding {
				find(t, "the lease of %s with token %d ended with token %d", holder, holding, t.Token)
			}
			holding, holder = 0, ""
		default:
		}
	}
	return leases, out
}
