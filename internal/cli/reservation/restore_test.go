package reservation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// The history named the holder of a lease, whoever had ended it.
func TestHistoryShowsWhoWrote(t *testing.T) {
	for name, c := range map[string]struct {
		line lease.Transition
		want string
	}{
		"another user":          {lease.Transition{What: lease.Released, Who: "ada@desk", By: "eve@example.com"}, "ada@desk (by eve@example.com)"},
		"the holder":            {lease.Transition{What: lease.Released, Who: "ada@desk", By: "ada"}, "  ada@desk  "},
		"the same name":         {lease.Transition{What: lease.Released, Who: "ada@example.com", By: "ada@example.com"}, "  ada@example.com  "},
		"like the holder":       {lease.Transition{What: lease.Released, Who: "ada@desk", By: "ad"}, "ada@desk (by ad)"},
		"of an earlier version": {lease.Transition{What: lease.Released, Who: "ada@desk"}, "  ada@desk  "},
		"without a holder":      {lease.Transition{What: lease.Blocked, By: "eve"}, "  (by eve)  "},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := printTransitions(&out, []lease.Transition{c.line}); err != nil || !strings.Contains(out.String(), c.want) {
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
	if err := refused(&lease.NotHolderError{Holder: "ada@desk", User: "ada", Caller: "eve"}); cmdutil.ExitCode(err) != cmdutil.ExitFailed {
		t.Errorf("exit code %d: %v", cmdutil.ExitCode(err), err)
	}
}
