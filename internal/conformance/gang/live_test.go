package gang_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/gang"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	observe := func(t *testing.T, s *site.Site, run string) check.Judgement {
		t.Helper()
		rec := &labtest.Recorder{T: t}
		c := gang.New(s, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run})
		if err := c.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if len(check.OfKind(rec.Observations(), apilog.Kind)) != 1 {
			t.Error("the API calls are not recorded")
		}
		j := c.Judge(rec.Observations())
		t.Logf("%s: %s", j.Verdict, j.Reason)
		return j
	}
	t.Run("Passes", func(t *testing.T) {
		if j := observe(t, l.Site, "live-passes"); j.Verdict != check.Passed {
			t.Fatalf("%+v", j)
		}
	})
	t.Run("OneNode", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Hold(t, l.Site.Inventory.Nodes[0].Name, 8)
		if j := observe(t, l.Site, "live-one-node"); j.Verdict != check.Passed {
			t.Fatalf("%+v", j)
		}
	})
	t.Run("NobodyHeedsGangs", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/gang TestLive", "half-gang")
		defer l.Fault(t, world.Fault{Kind: "half-gang"})()
		if j := observe(t, l.Site, "live-half"); j.Verdict != check.Failed {
			t.Fatalf("%+v", j)
		}
	})
	t.Run("DRAOnly", func(t *testing.T) {
		suite.Require(t, suite.All)
		declared := *l.Site
		declared.GPUStack.DeviceClass = site.DRADeviceClass
		defer l.Fault(t, world.Fault{Kind: "dra-only", Target: "cluster"})()
		if j := observe(t, &declared, "live-dra"); j.Verdict != check.Passed {
			t.Fatalf("%+v", j)
		}
		if j := observe(t, l.Site, "live-dra-undeclared"); j.Verdict != check.Unobserved {
			t.Errorf("without the declaration: %+v", j)
		}
		defer l.Fault(t, world.Fault{Kind: "half-gang"})()
		if j := observe(t, &declared, "live-dra-half"); j.Verdict != check.Failed {
			t.Errorf("gangs are placed in parts: %+v", j)
		}
	})
}
