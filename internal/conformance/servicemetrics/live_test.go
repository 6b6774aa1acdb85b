package servicemetrics_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/servicemetrics"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(1), component.ExtraAdapter)
	l.Profile.Telemetry.RiseWithin.Value = 30 // s: the lab follows at once
	t.Run("Passes", func(t *testing.T) {
		suite.Require(t, suite.All)                  // internal/e2e/validate shows it for every change
		l.Hold(t, l.Site.Inventory.Nodes[0].Name, 7) // one GPU is enough
		j, _ := observe(t, l, "live-passes", func() {})
		if j.Verdict != check.Passed {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		t.Log(j.Reason, j.Figures)
	})
	t.Run("AdapterDown", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/servicemetrics TestLive", "adapter-down")
		// A namespace does not end while an API is registered that nothing serves.
		j, obs := observe(t, l, "live-adapter", l.Fault(t, world.Fault{Kind: "adapter-down"}))
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "custom.metrics.k8s.io") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		if len(check.OfKind(obs, apilog.Kind)) != 1 {
			t.Error("the API calls are not recorded")
		}
		t.Log(j.Verdict, j.Reason)
	})
}

// observe runs the check and judges it from what it recorded; repaired is called before
// what it created is removed.
func observe(t *testing.T, l *labtest.Lab, run string, repaired func()) (check.Judgement, []check.Observation) {
	t.Helper()
	c := servicemetrics.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run})
	rec := &labtest.Recorder{}
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	repaired()
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	return c.Judge(rec.Observations()), rec.Observations()
}
