package reservation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// The history shows the authenticated user of an event, if it is not the holder.
func TestHistoryShowsTheUser(t *testing.T) {
	for name, c := range map[string]struct {
		line lease.Event
		want string
	}{
		"another user":          {lease.Event{Type: lease.Released, Actor: "alice@host", User: "bob@example.com"}, "alice@host (by bob@example.com)"},
		"the holder":            {lease.Event{Type: lease.Released, Actor: "alice@host", User: "alice"}, "  alice@host  "},
		"the same name":         {lease.Event{Type: lease.Released, Actor: "alice@example.com", User: "alice@example.com"}, "  alice@example.com  "},
		"like the holder":       {lease.Event{Type: lease.Released, Actor: "alice@host", User: "ali"}, "alice@host (by ali)"},
		"of an earlier version": {lease.Event{Type: lease.Released, Actor: "alice@host"}, "  alice@host  "},
		"without a holder":      {lease.Event{Type: lease.Quarantined, User: "bob"}, "  (by bob)  "},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			printTransitions(&out, []lease.Event{c.line})
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("%q is missing in:\n%s", c.want, out.String())
			}
		})
	}
}

func TestHoldersShowsTheUser(t *testing.T) {
	var out bytes.Buffer
	l := &lease.Lease{Ticket: lease.Ticket{Holder: "nightly", User: "system:serviceaccount:firstlight:firstlight-reservations"}}
	printHolders(&out, []shown{{Name: "aws-h100", State: lease.Leased, Lease: l}})
	if !strings.Contains(out.String(), "nightly (user system:serviceaccount:firstlight:firstlight-reservations)") {
		t.Error(out.String())
	}
}

// A refusal fails; it is not a store that is unavailable.
func TestRefusalFails(t *testing.T) {
	if err := leaseError(&lease.NotHolderError{Holder: "alice@host", User: "alice", Caller: "bob"}); cmdutil.ExitCode(err) != cmdutil.ExitFailed {
		t.Errorf("exit code %d: %v", cmdutil.ExitCode(err), err)
	}
}
