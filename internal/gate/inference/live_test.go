package inference_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// holder is this test in the manifest of faults.
const holder = "internal/gate/inference TestLive"

// TestLive loads the lab's server from a pod, which runs the real program.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	own := *l.Site
	w := &own.Workloads.Inference
	w.Client, w.Requests, w.Warmup = site.ClientCluster, 24, 2
	w.TTFTp99, w.TPOTp99, w.ITLp99 = site.Duration(10*time.Second), site.Duration(time.Second), site.Duration(5*time.Second)
	t.Run("Healthy", func(t *testing.T) {
		suite.Require(t, suite.All)
		if j := observe(t, l, &own, "live-inside"); j.Verdict != check.Passed || !strings.Contains(j.Reason, "24 requests, none failed") || !strings.Contains(j.Reason, "from inside the cluster") {
			t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	for _, f := range []struct {
		fault            world.Fault
		verdict          check.Verdict
		suspect, message string
	}{
		{world.Fault{Kind: "load-evicted"}, check.Unobserved, "load of job inference", "Evicted"},
		{world.Fault{Kind: "load-image-missing"}, check.Unobserved, "load of job inference", "ImagePullBackOff"},
		{world.Fault{Kind: "load-starved"}, check.Unobserved, "load generator on ", "after they were due at p99, the maximum is 100.0 ms"},
		{world.Fault{Kind: "service-blocked"}, check.Failed, "Service inference inside the cluster", "host unreachable"},
		{world.Fault{Kind: "service-blocked", Options: map[string]string{"by": world.BlockedByPolicy}}, check.Failed, "Service inference inside the cluster", "deadline exceeded"},
	} {
		t.Run(f.fault.Kind+f.fault.Options["by"], func(t *testing.T) {
			suite.RequireFault(t, holder, f.fault.Kind)
			defer l.Fault(t, f.fault)()
			j := observe(t, l, &own, "live-"+f.fault.Kind)
			if j.Verdict != f.verdict || len(j.Findings) != 1 || !strings.HasPrefix(j.Findings[0].Suspect, f.suspect) || !strings.Contains(j.Findings[0].Message, f.message) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// observe runs the gate and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, s *site.Site, run string) check.Judgement {
	t.Helper()
	g := inference.New(s, l.Profile, inference.Deps{Cluster: l.Open, RunID: run})
	rec := &labtest.Recorder{T: t}
	began := time.Now()
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	j := g.Judge(rec.Observations())
	t.Logf("%s after %s: %s", j.Verdict, time.Since(began).Round(time.Second), j.Reason)
	for _, f := range j.Figures {
		t.Logf("%s: %g %s", f.Name, f.Value, f.Unit)
	}
	return j
}
