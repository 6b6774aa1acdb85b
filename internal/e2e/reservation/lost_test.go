package reservation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// The store stops: a lease cannot be renewed, so its command is stopped before another
// holder could have the reservation. No other test runs meanwhile.
func TestLostLease(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	held := begin(t, "acquire", "lost", "--as", "ada", "--period", "3s", "--", "sh", "-c", "echo $$ > "+pid+".new; mv "+pid+".new "+pid+"; exec sleep 600")
	polltest.Until(t, "the command to run", func() bool { _, err := os.Stat(pid); return err == nil })
	raw, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	proc := filepath.Join("/proc", strings.TrimSpace(string(raw)))
	if _, err := os.Stat(proc); err != nil {
		t.Fatalf("the command does not run: %v", err)
	}
	if v := describe(t, "lost"); v.State != "leased" || v.Lease.Holder != "ada" {
		t.Fatalf("while the command runs, it is %+v", v)
	}
	reservation(t, 0, []string{"store", "down"})
	r := held.end(t)
	if r.Code != 3 || !strings.Contains(r.Stderr, "the command was stopped") || !strings.Contains(r.Stderr, "the lease could not be renewed") {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
	if _, err := os.Stat(proc); !os.IsNotExist(err) {
		t.Errorf("the command still runs: %v", err)
	}

	// The data survives a restart, and no lease expires because of it: the next waiter
	// watches for a whole interval before it expires the lease.
	v := describe(t, "lost")
	if v.State != "leased" || v.Lease.Holder != "ada" {
		t.Errorf("after the restart it is %+v", v)
	}
	next := begin(t, "acquire", "lost", "--as", "eve", "--wait", "5m", "-o", "json")
	polltest.Until(t, "the lease of ada to expire", func() bool { return describe(t, "lost").State == "dirty" })
	clean(t, "lost")
	if got := acquired(t, next.end(t)); len(got) != 1 || got[0].Token <= v.Token {
		t.Errorf("eve has %+v after %d", got, v.Token)
	}
	var what []string
	for _, h := range describe(t, "lost").Recent {
		what = append(what, h.Type+" "+h.Actor)
	}
	if !strings.Contains(strings.Join(what, ", "), "expired ada, ") {
		t.Errorf("the history is %v", what)
	}
	reservation(t, 0, []string{"release", "lost"})
	clean(t, "lost")
}
