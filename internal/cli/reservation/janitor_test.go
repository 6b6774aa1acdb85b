package reservation

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/janitor"
)

func TestJanitorExit(t *testing.T) {
	t.Parallel()
	d := &hook.Deployment{Name: "fl-x", Reservation: "aws-h100"}
	for _, tt := range []struct {
		name string
		of   []janitor.Decision
		want int
	}{
		{"nothing", nil, cmdutil.ExitPassed},
		{"kept and removed", []janitor.Decision{{Deployment: d, Verdict: janitor.Kept}, {Deployment: d, Verdict: janitor.Removed}}, cmdutil.ExitPassed},
		{"to remove", []janitor.Decision{{Deployment: d, Verdict: janitor.Remove}}, cmdutil.ExitFailed},
		{"blocked", []janitor.Decision{{Deployment: d, Verdict: janitor.Blocked}}, cmdutil.ExitFailed},
		{"failed", []janitor.Decision{{Deployment: d, Verdict: janitor.Failed}}, cmdutil.ExitFailed},
		{"not seen", []janitor.Decision{{Deployment: d, Verdict: janitor.Remove}, {Verdict: janitor.Blocked}}, cmdutil.ExitUnobserved},
	} {
		if got := cmdutil.ExitCode(janitorExit(janitor.Report{Decisions: tt.of})); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestPrintJanitor(t *testing.T) {
	t.Parallel()
	r := janitor.Report{Decisions: []janitor.Decision{
		{Cloud: "aws", Deployment: &hook.Deployment{Name: "fl-x", Reservation: "aws-h100"}, Verdict: janitor.Remove, Reason: "its lease 7 ended"},
		{Cloud: "gcp", Verdict: janitor.Blocked, Reason: "no rights"},
	}}
	var b bytes.Buffer
	printJanitor(&b, r)
	for _, w := range []string{"fl-x", "its lease 7 ended", "no rights", "nothing was changed; --enforce removes 1 deployment"} {
		if !strings.Contains(b.String(), w) {
			t.Errorf("no %s in\n%s", w, b.String())
		}
	}
}

func TestHookLab(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	const discover = `{"apiVersion":"hooks.firstlight.dev/v1","verb":"discover","owner":"team-a","cloud":"aws","deadline":"2026-11-21T15:00:00Z","attempt":1}`
	for _, tt := range []struct {
		name, in string
		code     int
		out      string
	}{
		{"discover", discover, cmdutil.ExitPassed, `{"apiVersion":"hooks.firstlight.dev/v1","deployments":[]}`},
		{"no request", "", hook.ExitFailed, `"error":"read the request`},
		{"unknown key", strings.Replace(discover, "attempt", "atempt", 1), hook.ExitFailed, `unknown field \"atempt\"`},
	} {
		var out bytes.Buffer
		cmd := newHook(cmdutil.Streams{In: strings.NewReader(tt.in), Out: &out, Err: t.Output()})
		cmd.SetArgs([]string{"lab"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if got := cmdutil.ExitCode(cmd.ExecuteContext(t.Context())); got != tt.code || !strings.Contains(out.String(), tt.out) {
			t.Errorf("%s: exit code %d, %s", tt.name, got, out.String())
		}
	}
	cmd := newHook(cmdutil.Streams{In: strings.NewReader(discover), Out: closed{}, Err: t.Output()})
	cmd.SetArgs([]string{"lab"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if got := cmdutil.ExitCode(cmd.ExecuteContext(t.Context())); got != hook.ExitFailed {
		t.Errorf("the response cannot be written: exit code %d", got)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New(os.ErrClosed.Error()) }
