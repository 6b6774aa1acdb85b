package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// What hosts must show, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := node.New(testSite(2), testProfile(t), node.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, healthy(t, 2)), []checktest.Rule{
		checktest.When("a microsecond of throttling is throttling", checktest.Set("nvidia-smi-after@gpu-01", `.log.gpus[0].clockCountersUS.hw_therm_slowdown`, 6)).Fails("gpu-01/gpu0", "held down by hw_thermal_slowdown"),
		checktest.When("entities of another group are no GPUs that were looked at", checktest.Set("dcgmi-diag@gpu-01", `.diag.tests[0].results[0].group`, "CPU")).Unobserved("gpu-01", "looked at 7 of 8 GPUs"),
		checktest.When("a required diagnostic that fails without a result fails", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[0].status`, "Fail")).Fails("gpu-02", "though none of its results is"),
		checktest.When("a required diagnostic that is skipped without a result fails", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[0].status`, "Skip")).Fails("gpu-02", "though none of its results is"),
		checktest.When("NVLink fabric status is Success", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].fabricStatus`, "Not Supported")).Fails("gpu-01/gpu0", "status \"Not Supported\""),
		checktest.When("NVLink fabric status is reported", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].fabricStatus`, "")).Unobserved("gpu-01/gpu0", "whether it has joined is not known"),
	})
}
