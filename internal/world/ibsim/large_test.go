package ibsim

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/suite"
)

// A subnet of 2,048 nodes with one rail, and as many uplinks as adapters on each leaf: 64 leaves and 32
// spines of 64 ports. OpenSM configures it, the real tools read it, the gate accepts it, and names the one
// cable that is then pulled.
func TestLargeSubnet(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	suite.Require(t, suite.All)
	suite.Admit(t)
	const nodes, spines = 2048, 32
	w, s := declared(t, nodes, 1, spines)
	s.Reach.SSH.Concurrency = 4
	if want := 2 * nodes; s.Fabric.Links != want || len(s.Fabric.Switches) != 96 {
		t.Fatalf("%d links and %d switches, want %d and 96", s.Fabric.Links, len(s.Fabric.Switches), want)
	}
	took := stopwatch(t)
	p := startPrograms(t, w.State(), w.State())
	took("ibsim is ready")
	sm := p.startSM(t, 10)
	took("OpenSM has configured the subnet")
	wait := func(ctx context.Context, _ time.Duration) error { return poll.Sleep(ctx, 30*time.Second) }
	j := judge(t, s, "h100-sxm-hdr200", p, wait)
	took("the gate has judged it")
	if j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("healthy: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	totals(t, s, j)

	n := sm.Sweeps()
	p.console(t, `Unlink "gpu-1777 mlx5_0"[1]`)
	if err := sm.Swept(t.Context(), n+1); err != nil {
		t.Fatal(err)
	}
	took("OpenSM has swept out a link")
	j = judge(t, s, "h100-sxm-hdr200", p, wait)
	took("the gate has judged it again")
	if len(j.Findings) != 1 || j.Verdict != check.Failed || j.Findings[0].Suspect != "gpu-1777/mlx5_0" {
		t.Errorf("a link down: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	pid, err := os.ReadFile(sm.dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + string(regexp.MustCompile(`\d+`).Find(pid)) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("OpenSM: %s", regexp.MustCompile(`VmHWM:.*`).Find(status))
}

// stopwatch returns a function that logs the time since its last call.
func stopwatch(t *testing.T) func(string) {
	last := time.Now()
	return func(what string) {
		t.Helper()
		t.Logf("%s after %s", what, time.Since(last).Round(100*time.Millisecond))
		last = time.Now()
	}
}
