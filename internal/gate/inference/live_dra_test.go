package inference_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestLiveDRAOnly serves a model on a cluster without the device plugin: the GPUs that are free
// are those of ResourceSlices. A server without claims finds no free GPU.
func TestLiveDRAOnly(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	l := labtest.Start(t, world.DefaultSpec(2))
	defer l.Fault(t, world.Fault{Kind: "dra-only", Target: "cluster"})()
	judge := func(run, class string) check.Judgement {
		rec := &labtest.Recorder{T: t}
		g := inference.New(l.Site, l.Profile, inference.Deps{Cluster: l.Open, RunID: run, DeviceClass: class})
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		return g.Judge(rec.Observations())
	}
	if j := judge("live-claims", site.DRADeviceClass); j.Verdict != check.Passed {
		t.Errorf("with claims: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	if j := judge("live-plugin", ""); j.Verdict == check.Passed || !strings.Contains(j.Reason, "has no allocatable GPU") {
		t.Errorf("without claims: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, n := range l.Site.Inventory.Nodes {
		defer l.Fault(t, world.Fault{Kind: "dra-slice-missing", Target: n.Name})()
	}
	if j := judge("live-no-slices", site.DRADeviceClass); j.Verdict == check.Passed {
		t.Errorf("without slices: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}
