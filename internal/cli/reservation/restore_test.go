package reservation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// The history named the holder of a lease, whoever had ended it.
func TestHistoryShowsWhoWrote(t *testing.T) {
	for name, c := range map[string]struct {
		line lease.Event
		want string
	}{
		"another user":          {lease.Event{Type: lease.Released, Actor: "ada@desk", User: "eve@example.com"}, "ada@desk (by eve@example.com)"},
		"the holder":            {lease.Event{Type: lease.Released, Actor: "ada@desk", User: "ada"}, "  ada@desk  "},
		"the same name":         {lease.Event{Type: lease.Released, Actor: "ada@example.com", User: "ada@example.com"}, "  ada@example.com  "},
		"like the holder":       {lease.Event{Type: lease.Released, Actor: "ada@desk", User: "ad"}, "ada@desk (by ad)"},
		"of an earlier version": {lease.Event{Type: lease.Released, Actor: "ada@desk"}, "  ada@desk  "},
		"without a holder":      {lease.Event{Type: lease.Quarantined, User: "eve"}, "  (by eve)  "},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := printTransitions(&out, []lease.Event{c.line}); err != nil || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v, %q is not in:\n%s", err, c.want, out.String())
			}
		})
	}
}

func TestHoldersShowsTheUser(t *testing.T) {
	var out bytes.Buffer
	l := &lease.Lease{Ticket: lease.Ticket{Holder: "nightly", User: "system:serviceaccount:firstlight:firstlight-reservations"}}
	if err := printHolders(&out, []shown{{Name: "aws-h100", State: lease.Leased, Lease: l}}); err != nil || !strings.Contains(out.String(), "nightly (user system:serviceaccount:firstlight:firstlight-reservations)") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// A refusal is an answer, and not a store that can not be asked.
func TestNotTheHoldersIsRefused(t *testing.T) {
	if err := refused(&lease.NotHolderError{Holder: "ada@desk", User: "ada", Caller: "eve"}); exitCode(err) != ExitFailed {
		t.Errorf("exit code %d: %v", exitCode(err), err)
	}
}
