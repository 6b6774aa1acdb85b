package collective_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// holder is this test in the manifest of faults.
const holder = "internal/gate/collective TestLive"

// TestLive runs the gate where kubelets rotate the log of the first pod: it is read whole by following it, and without that its lost
// beginning is not a failure of the cluster.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	for _, tt := range []struct {
		fault            string
		verdict          check.Verdict
		suspect, message string
	}{
		{"container-log-rotated", check.Passed, "", "0 wrong values in 3 runs"},
		{"log-stream-ends", check.Unobserved, `^pod .+/collective-0-`, "the beginning of the log is missing"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			suite.RequireFault(t, holder, tt.fault)
			const limit = 100 << 10 // bytes, of a log of 180 KiB
			defer l.Fault(t, world.Fault{Kind: tt.fault, Options: map[string]string{"kib": "100"}})()
			j, raw := observe(t, l, "live-"+tt.fault)
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.message) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if tt.suspect != "" && (len(j.Findings) != 1 || !regexp.MustCompile(tt.suspect).MatchString(j.Findings[0].Suspect)) {
				t.Errorf("%+v, want %s", j.Findings, tt.suspect)
			}
			if whole := len(raw) > limit; whole != (tt.verdict == check.Passed) {
				t.Errorf("%d bytes of log", len(raw))
			}
		})
	}
}

// observe runs the gate and returns its judgement and the log.
func observe(t *testing.T, l *labtest.Lab, run string) (check.Judgement, []byte) {
	t.Helper()
	g := collective.New(l.Site, l.Profile, collective.Deps{Cluster: l.Open, RunID: run})
	rec := &labtest.Recorder{T: t}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	obs := rec.Observations()
	if len(obs) == 0 {
		t.Fatal("nothing was observed")
	}
	return g.Judge(obs), obs[0].Raw
}
