package inference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestLiveDRAOnly serves a model on a cluster without the device plugin: the GPUs that are free are those
// of ResourceSlices, which the server claims where the site declares a class, and where nothing else offers GPUs. A
// site that declares no DRA driver finds no free GPU.
func TestLiveDRAOnly(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	l := labtest.Start(t, world.DefaultSpec(2))
	defer l.Fault(t, world.Fault{Kind: "dra-only", Target: "cluster"})()
	judge := func(run, class, driver string) check.Judgement {
		s := *l.Site
		s.GPUStack.DeviceClass, s.GPUStack.DRADriver = class, driver
		var j check.Judgement
		times := 0
		suite.Repeat(t, func() string {
			times++
			rec := &labtest.Recorder{T: t}
			g := inference.New(&s, l.Profile, inference.Deps{Cluster: l.Open, RunID: fmt.Sprintf("%s-%d", run, times)})
			if err := g.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			j = g.Judge(rec.Observations())
			if j.Verdict != check.Unobserved {
				return ""
			}
			return j.Reason
		})
		return j
	}
	for run, class := range map[string]string{"live-claims": site.DRADeviceClass, "live-detected": ""} {
		j := judge(run, class, "")
		if j.Verdict != check.Passed || !slices.ContainsFunc(j.Figures, func(f check.Figure) bool {
			return f.Name == "GPUs allocated by claims" && int(f.Value) == l.Site.Workloads.Inference.GPUs
		}) {
			t.Errorf("%s: %s: %s %+v %+v", run, j.Verdict, j.Reason, j.Findings, j.Figures)
		}
	}
	if j := judge("live-plugin", "", site.DRANone); j.Verdict == check.Passed || !strings.Contains(j.Reason, "has no allocatable GPU") {
		t.Errorf("without claims: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, n := range l.Site.Inventory.Nodes {
		defer l.Fault(t, world.Fault{Kind: "dra-slice-missing", Target: n.Name})()
	}
	if j := judge("live-no-slices", site.DRADeviceClass, ""); j.Verdict == check.Passed {
		t.Errorf("without slices: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}
