package gpustack_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestLiveDRAOnly judges a cluster whose GPUs a DRA driver alone offers. The gate tells whether pods
// without a claim get GPUs, too, and names the DeviceClass if no claim of it can be allocated.
func TestLiveDRAOnly(t *testing.T) {
	suite.Live(t)
	suite.RequireFault(t, "internal/gate/gpustack TestLiveDRAOnly", "dra-class-mismatch")
	l := labtest.Start(t, world.DefaultSpec(2))
	defer l.Fault(t, world.Fault{Kind: "dra-only", Target: "cluster"})()
	declared := *l.Site
	declared.GPUStack.DeviceClass = site.DRADeviceClass
	judge := func(run string) check.Judgement {
		rec := &labtest.Recorder{T: t}
		g := gpustack.New(&declared, l.Profile, gpustack.Deps{Cluster: l.Open, RunID: run})
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		return g.Judge(rec.Observations())
	}
	says := func(j check.Judgement, suspect, text string) bool {
		for _, f := range j.Findings {
			if f.Suspect == suspect && strings.Contains(f.Message, text) {
				return true
			}
		}
		return false
	}
	const class = "DeviceClass gpu.nvidia.com"
	if j := judge("live-dra"); j.Verdict != check.Passed || !says(j, class, "maps no extended resource") {
		t.Errorf("healthy: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	api := l.Cluster.Client.ResourceV1().DeviceClasses()
	patch := func(text string) {
		t.Helper()
		if _, err := api.Patch(t.Context(), site.DRADeviceClass, types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch(`{"spec": {"extendedResourceName": "nvidia.com/gpu"}}`)
	if j := judge("live-dra-mapped"); j.Verdict != check.Passed || !says(j, class, "maps the extended resource nvidia.com/gpu") {
		t.Errorf("mapped: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	patch(`{"spec": {"extendedResourceName": null}}`)
	mended := l.Fault(t, world.Fault{Kind: "dra-class-mismatch"})
	selects := func(product string, want bool) {
		t.Helper()
		polltest.Until(t, "the class to be changed", func() bool {
			c, err := api.Get(t.Context(), site.DRADeviceClass, metav1.GetOptions{})
			return err == nil && strings.Contains(c.Spec.Selectors[0].CEL.Expression, product) == want
		})
	}
	selects("A100", true)
	if j := judge("live-dra-class"); j.Verdict != check.Failed || !says(j, class, "no claim of it was allocated") {
		t.Errorf("a class of another product: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	mended()
	selects("A100", false)
}
