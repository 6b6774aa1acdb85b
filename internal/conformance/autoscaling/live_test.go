package autoscaling_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/autoscaling"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(1), component.ExtraAdapter)
	t.Run("Passes", func(t *testing.T) {
		suite.Require(t, suite.All) // internal/e2e/validate shows it for every change
		j, _ := observe(t, l, "live-passes")
		if j.Verdict != check.Passed {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		t.Log(j.Reason)
	})
	t.Run("TargetUnreachable", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/autoscaling TestLive", "hpa-target-unreachable")
		defer l.Fault(t, world.Fault{Kind: "hpa-target-unreachable"})()
		j, obs := observe(t, l, "live-target")
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "target") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		if len(check.OfKind(obs, apilog.Kind)) != 1 {
			t.Error("the calls are not kept")
		}
		t.Log(j.Reason)
	})
	t.Run("OneGPU", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Hold(t, l.Site.Inventory.Nodes[0].Name, 7)
		j, obs := observe(t, l, "live-one")
		if j.Verdict != check.Unobserved || !strings.HasPrefix(j.Reason, "partially shown: ") || !strings.Contains(j.Reason, "held no GPUs") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		setup, err := check.Decode[snapshot.Setup](check.OfKind(obs, snapshot.KindSetup)[0])
		if err != nil || !setup.Turns || setup.Scale.LoadGPUs != 1 {
			t.Errorf("%+v %v", setup, err)
		}
		t.Log(j.Reason)
	})
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, run string) (check.Judgement, []check.Observation) {
	t.Helper()
	c := autoscaling.NewPods(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run, Timeout: 40 * time.Second})
	rec := &labtest.Recorder{}
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	return c.Judge(rec.Observations()), rec.Observations()
}
