package simulation

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func history(lines ...lease.Event) []lease.Event {
	for i := range lines {
		if lines[i].N == 0 {
			lines[i].N = int64(i + 1)
		}
	}
	return lines
}

func line(what lease.EventType, who string, token int64) lease.Event {
	return lease.Event{Type: what, Actor: who, Token: token}
}

func TestAudit(t *testing.T) {
	for name, c := range map[string]struct {
		history []lease.Event
		leases  int
		says    string
	}{
		"one after the other": {history(line(lease.Queued, "ada", 0), line(lease.Claimed, "ada", 5), line(lease.Released, "ada", 5), line(lease.CleanStarted, "c", 7), line(lease.Cleaned, "c", 7), line(lease.Claimed, "bob", 9)), 3, ""},
		"taken and handed back": {history(line(lease.Claimed, "day", 5), line(lease.Published, "day", 5), line(lease.CheckedOut, "ada", 6), line(lease.CheckedIn, "ada", 6),
			line(lease.CheckedOut, "bob", 9), line(lease.Evicted, "bob", 9)), 3, ""},
		"the opener is evicted after it was handed back": {history(line(lease.Claimed, "day", 5), line(lease.CheckedOut, "ada", 6), line(lease.CheckedIn, "ada", 6), line(lease.Evicted, "day", 8)), 2, ""},
		"found in use while it was free":                 {history(line(lease.Quarantined, "", 0), line(lease.CleanStarted, "c", 7)), 1, ""},

		"two at once":                   {history(line(lease.Claimed, "ada", 5), line(lease.Claimed, "bob", 6)), 2, "bob got the lease with token 6, but ada has it with token 5"},
		"a cleaner during a lease":      {history(line(lease.Claimed, "ada", 5), line(lease.CleanStarted, "c", 6)), 2, "ada has it with token 5"},
		"a token again":                 {history(line(lease.Claimed, "ada", 5), line(lease.Released, "ada", 5), line(lease.Claimed, "bob", 5)), 2, "token 5 was granted after 5"},
		"a token that is lower":         {history(line(lease.Claimed, "ada", 5), line(lease.Released, "ada", 5), line(lease.Claimed, "bob", 4)), 2, "token 4 was granted after 5"},
		"checked out with an old token": {history(line(lease.Claimed, "day", 5), line(lease.CheckedOut, "ada", 5)), 2, "token 5 was granted after 5"},
		"the release of another":        {history(line(lease.Claimed, "ada", 5), line(lease.Released, "bob", 4)), 1, "the lease of ada with token 5 ended with token 4"},
		"a line is missing":             {history(line(lease.Claimed, "ada", 5), lease.Event{N: 3, Type: lease.Released, Token: 5}), 1, "the previous line is 1"},
		"handed back what another has":  {history(line(lease.Claimed, "day", 5), line(lease.CheckedOut, "ada", 6), line(lease.CheckedIn, "bob", 5)), 2, "bob checked in the lease of ada"},
	} {
		t.Run(name, func(t *testing.T) {
			n, got := audit("x", c.history)
			if n != c.leases || (c.says == "") != (len(got) == 0) || c.says != "" && !strings.Contains(got[0].Reason, c.says) {
				t.Errorf("%d leases, %v, want %d and %q", n, got, c.leases, c.says)
			}
		})
	}
}
