package embedded_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/gang"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestOneGPU: a lab of one node with one GPU starts, and checks with sizes from profile and site
// work.
func TestOneGPU(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Live(t)
	spec, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	l := labtest.Start(t, spec)
	l.Retire() // no other test uses such a lab
	if l.Site.Profile != "a3-highgpu-1g" || len(l.Site.NotApplicable) != 2 {
		t.Fatalf("site of profile %s, not applicable %v", l.Site.Profile, l.Site.NotApplicable)
	}
	deps := func(run string) gangjob.Deps { return gangjob.Deps{Cluster: l.Open, RunID: run} }
	for _, tt := range []struct {
		run     string
		check   check.Check
		verdict check.Verdict
		fault   string
	}{
		{"one-training", training.New(l.Site, l.Profile, deps("one-training")), check.Passed, ""},
		{"one-training-slow", training.New(l.Site, l.Profile, deps("one-training-slow")), check.Failed, "mfu-low"},
		{"one-inference", inference.New(l.Site, l.Profile, deps("one-inference")), check.Passed, ""},
		{"one-gang", gang.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: "one-gang"}), check.Passed, ""},
		{"one-gang-half", gang.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: "one-gang-half"}), check.Failed, "half-gang"},
	} {
		t.Run(tt.run, func(t *testing.T) {
			if tt.fault != "" {
				defer l.Fault(t, world.Fault{Kind: tt.fault})()
			}
			rec := &labtest.Recorder{T: t}
			if err := tt.check.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if j := tt.check.Judge(rec.Observations()); j.Verdict != tt.verdict {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}
