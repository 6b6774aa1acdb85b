package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on hosts, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := node.New(testSite(2), testProfile(t), node.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, healthy(t, 2)), []checktest.Rule{
		checktest.When("a microsecond of throttling is throttling", checktest.Set("nvidia-smi-after@gpu-01", `.log.gpus[0].clockCountersUS.hw_therm_slowdown`, 6)).Fails("gpu-01/gpu0", "limited by hw_thermal_slowdown"),
		checktest.When("entities of another group are not observed GPUs", checktest.Set("dcgmi-diag@gpu-01", `.diag.tests[0].results[0].group`, "CPU")).Unobserved("gpu-01", "covered 7 of 8 GPUs"),
		checktest.When("a required diagnostic that fails without a result fails", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[0].status`, "Fail")).Fails("gpu-02", "but none of its results is"),
		checktest.When("a required diagnostic that is skipped without a result fails", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[0].status`, "Skip")).Fails("gpu-02", "but none of its results is"),
		checktest.When("NVLink fabric status is Success", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].fabricStatus`, "Not Supported")).Fails("gpu-01/gpu0", "status \"Not Supported\""),
		checktest.When("NVLink fabric status is reported", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].fabricStatus`, "")).Unobserved("gpu-01/gpu0", "whether it has joined is unknown"),
		// a link that went down under load passed: a link that is down counts no errors
		checktest.When("a link is counted after the diagnostic, too", checktest.Set("nvidia-smi-nvlink-errors-after@gpu-01", `.gpus[1].links[last]`, checktest.LeftOut)).Unobserved("gpu-01/gpu1", "error counters of 1 of its NVLinks"),
		checktest.When("links are counted after the diagnostic, too", checktest.Set("nvidia-smi-nvlink-errors-after@gpu-01", `.gpus[1].links`, []any{})).Unobserved("gpu-01/gpu1", "error counters of 18 of its NVLinks"),
		checktest.When("a link that was down before is judged as that alone", checktest.Set("nvidia-smi-nvlink@gpu-01", `.gpus[1].links[last].active`, false),
			checktest.Set("nvidia-smi-nvlink-errors@gpu-01", `.gpus[1].links[last]`, checktest.LeftOut), checktest.Set("nvidia-smi-nvlink-errors-after@gpu-01", `.gpus[1].links[last]`, checktest.LeftOut)).Fails("gpu-01/gpu1", "link 17 is down"),
		checktest.When("a GPU says how hot it is", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].temperatureC`, checktest.LeftOut)).Unobserved("gpu-01/gpu0", "reports no temperature"),
		checktest.When("a GPU is cooler than it slows down at", checktest.Set("nvidia-smi-after@gpu-01", `.log.gpus[0].temperatureC`, 87)).Fails("gpu-01/gpu0", "87 C hot"),
		checktest.When("a GPU is warmer than its room", checktest.Set("nvidia-smi-after@gpu-01", `.log.gpus[0].temperatureC`, 0)).Unobserved("gpu-01/gpu0", "0 C, which was not measured"),
		checktest.When("a GPU may be warm", checktest.Set("nvidia-smi-after@gpu-01", `.log.gpus[0].temperatureC`, 86)).Passes(),
		checktest.When("without a document before the diagnostic throttling is unknown", checktest.Set("nvidia-smi@gpu-01", `.log`, checktest.LeftOut)).Unobserved("gpu-01", "nvidia-smi has no document"),
		checktest.When("without a document after the diagnostic throttling is unknown", checktest.Set("nvidia-smi-after@gpu-01", `.log`, checktest.LeftOut)).Unobserved("gpu-01", "nvidia-smi-after has no document"),
		checktest.When("corrected errors are a count", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].volatileErrors.sramCorrectable`, -1)).Unobserved("gpu-01/gpu0", "no volatile SRAM correctable error count"),
		checktest.When("remapped rows are a count", checktest.Set("nvidia-smi@gpu-01", `.log.gpus[0].remappedRows.uncorrectableRows`, -1)).Unobserved("gpu-01/gpu0", "no row remapping"),
		// the first port that ibstat lists was judged, whatever its number
		checktest.When("the adapter's port on the fabric is port 1", checktest.Set("ibstat@gpu-01", `.hcas[0].ports[0].number`, 2)).Unobserved("gpu-01/mlx5_0", "has no port 1"),
		checktest.When("another port of the adapter may be idle", checktest.Set("ibstat@gpu-01", `.hcas[0].ports[0]`, checktest.Twice), checktest.Set("ibstat@gpu-01", `.hcas[0].ports[0].number`, 2),
			checktest.Set("ibstat@gpu-01", `.hcas[0].ports[0].state`, "Down")).Passes(),
		checktest.When("an adapter can do something", checktest.Set("host@gpu-01", `.host.adapters.mlx5_1.maxWidth`, 0)).Unobserved("gpu-01/mlx5_1", "PCIe link"),
		checktest.When("a governor is that of a CPU", checktest.Set("host@gpu-01", `.host.governors.performance`, 0)).Unobserved("gpu-01", "0 CPU policies"),
		checktest.When("the time of the answer is known", checktest.Set("host@gpu-01", `.answeredAt`, checktest.LeftOut)).Unobserved("gpu-01", "does not report its clock"),
	})
}
