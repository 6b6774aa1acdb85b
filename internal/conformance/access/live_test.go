package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	t.Run("Passes", func(t *testing.T) {
		j, obs := observe(t, l, "live-passes")
		if j.Verdict != check.Passed {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		kept := check.OfKind(obs, apilog.Kind)
		if len(kept) != 1 || !strings.Contains(string(kept[0].Figures), "dryRun=All") || !strings.Contains(string(kept[0].Figures), "/log") {
			t.Error("the API calls are not recorded")
		}
		for _, o := range check.OfKind(obs, "devices-seen") {
			if len(o.Raw) == 0 {
				t.Errorf("the log of %s is not kept", o.Target)
			}
		}
	})
	for kind, suspect := range map[string]string{"device-leak": "gpu-01/container toolkit", "claim-leaks-to-sibling": "gpu-01/DRA driver"} {
		t.Run(kind, func(t *testing.T) {
			suite.RequireFault(t, "internal/conformance/access TestLive", kind)
			defer l.Fault(t, world.Fault{Kind: kind})()
			j, _ := observe(t, l, "live-"+kind)
			if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != suspect {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
	// It checks one node, which has its slice: whether all have is dra_support's.
	t.Run("SliceMissing", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer l.Fault(t, world.Fault{Kind: "dra-slice-missing", Target: "gpu-01"})()
		if j, _ := observe(t, l, "live-slice"); j.Verdict != check.Passed || !strings.Contains(j.Reason, "gpu-02") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("LeastPrivilege", func(t *testing.T) {
		suite.Require(t, suite.All)
		c := newCheck(l.Guest(t, access.Rules()), "live-least")
		rec := &labtest.Recorder{}
		if err := c.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if j := c.Judge(rec.Observations()); j.Verdict != check.Passed {
			t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
}

// TestOneGPU: neither this check nor dra_support needs a second GPU, and neither
// takes one that is held.
func TestOneGPU(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Live(t)
	spec, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	l := labtest.Start(t, spec)
	both := func(run string, want check.Verdict, says string) {
		t.Helper()
		for _, c := range []check.Check{
			dra.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run, Timeout: time.Minute}), newCheck(l, run),
		} {
			if j, _ := observeOf(t, l, run, c); j.Verdict != want || !strings.Contains(j.Reason, says) {
				t.Errorf("%s: %s: %s %+v", c.Name(), j.Verdict, j.Reason, j.Findings)
			}
		}
	}
	both("one-free", check.Passed, "")
	l.Hold(t, l.Site.Inventory.Nodes[0].Name, 1)
	both("one-held", check.Unobserved, "pod default/occupant-")
}

func newCheck(l *labtest.Lab, run string) *access.Check {
	return access.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run, Timeout: time.Minute})
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, run string) (check.Judgement, []check.Observation) {
	t.Helper()
	return observeOf(t, l, run, newCheck(l, run))
}

func observeOf(t *testing.T, l *labtest.Lab, run string, c check.Check) (check.Judgement, []check.Observation) {
	t.Helper()
	rec := &labtest.Recorder{}
	begin := time.Now()
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	j := c.Judge(rec.Observations())
	t.Logf("%s in %s: %s: %s", run, time.Since(begin).Round(time.Millisecond), j.Verdict, j.Reason)
	host := kube.Guest{Cluster: l.Cluster}
	left, err := host.LeftOf(t.Context(), run)
	if err != nil {
		t.Error(err)
	}
	for _, o := range left {
		if o.Kind != "PriorityClass" { // the cleanup of the run deletes it
			t.Errorf("left: %+v", o)
		}
	}
	if err := host.Cleanup(context.WithoutCancel(t.Context()), run); err != nil {
		t.Error(err)
	}
	return j, rec.Observations()
}
