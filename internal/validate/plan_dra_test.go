package validate

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/site"
)

// Without a DRA driver dra_support is not applicable, with the reason, unless the version of the
// program requires it: then it is run, and fails. All other checks apply.
func TestWithoutADRADriver(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	for _, tt := range []struct{ version, driver, reason string }{
		{"1.36", site.DRANone, "gpustack.draDriver: none"},
		{"1.37", site.DRANone, "version 1.37 of the conformance program does not require dra_support"},
		{"1.35", site.DRANone, ""}, {"1.34", site.DRANone, ""}, {"1.36", "", ""},
	} {
		t.Run(tt.version+tt.driver, func(t *testing.T) {
			t.Parallel()
			one := *s
			one.GPUStack.DRADriver = tt.driver
			c := caseFor(t, pipeline.Conformance, 32)
			c.Version = tt.version
			made, err := c.Plan(&one, p, conformance.Deps{})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range made.Steps {
				want := ""
				if step.Name() == "dra_support" {
					want = tt.reason
				}
				if (step.NotApplicable == "") != (want == "") || !strings.Contains(step.NotApplicable, want) {
					t.Errorf("%s is not applicable because of %q, want %q", step.Name(), step.NotApplicable, want)
				}
			}
		})
	}
}
