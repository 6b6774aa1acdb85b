package metrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/site"
)

// TestRules changes one field of the metrics at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	checktest.Rules(t, c.Judge, healthy(c).observations(t), []checktest.Rule{
		checktest.When("an impossible temperature is invalid", checktest.Set(kindSamples+"@"+first, `.gpus[0].samples.DCGM_FI_DEV_GPU_TEMP[0].value`, 56000)).Fails("", "under load: "),
		checktest.When("impossible memory is invalid", checktest.Set(kindSamples+"@"+second, `.gpus[0].samples.DCGM_FI_DEV_FB_USED[0].value`, 4401000)).Fails("", "under load: "),
		checktest.When("metrics stay under load", checktest.Set(kindSamples+"@"+first, `.gpus[last]`, checktest.LeftOut)).Fails("", "under load: "),
		checktest.When("metrics stay after the load", checktest.Set(kindSamples+"@"+after, `.gpus`, nil)).Fails("", "after the load: "),
		checktest.When("another index leaves a GPU without metrics", checktest.Set(kindSamples+"@"+before, `.gpus[0].gpu`, "5")).Fails("gpu-01", "missing for gpu 0"),
		checktest.When("GPUs that are known by UUID alone are counted", checktest.Set(kindSamples+"@"+before, `.gpus[*].gpu`, ""), checktest.Set(kindSamples+"@"+before, `.gpus[last]`, checktest.LeftOut)).Fails("gpu-02", "exists for 1 GPUs, want 2"),
		checktest.When("a metric of two series names their exporters", checktest.Set(kindSamples+"@"+before, `.gpus[0].samples.DCGM_FI_DEV_POWER_USAGE[0]`, checktest.Twice)).Fails("", "(from gpu-01:9400)"),
		checktest.When("each free GPU follows the load", checktest.Set(kindSamples+"@"+before, `.gpus[0].gpu`, "")).Unobserved("GPUs", "the metrics of 3 GPUs followed the load, want 4"),
	})
}

func TestLoadsHaveThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	c := &Check{site: &site.Site{}, deps: conformance.Deps{PodPatches: []map[string]any{{}}}}
	if s := (&running{observer: &observer{Check: c}}).spec("first-load", 1, []string{"gpu-01"}); len(s.Patches) != 1 {
		t.Errorf("%+v", s)
	}
}
