package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
)

// gpu1 sets a field of the first GPU of gpu-01, before and after the diagnostic.
func gpu1(path string, to any) []checktest.Change {
	return []checktest.Change{
		checktest.Set("nvidia-smi@gpu-01", ".log.gpus[0]."+path, to), checktest.Set("nvidia-smi-after@gpu-01", ".log.gpus[0]."+path, to),
	}
}

func fact(host, path string, to any) checktest.Change {
	return checktest.Set("host@"+host, ".host."+path, to)
}

func rules(t *testing.T, nodes int, all []checktest.Rule) {
	t.Helper()
	g := node.New(testSite(nodes), testProfile(t), node.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, healthy(t, nodes)), all)
}

// TestLimitRules: a value at its limit is within it, and the next one is not.
func TestLimitRules(t *testing.T) {
	t.Parallel()
	load := func(path string, to any) checktest.Change {
		return checktest.Set("nvidia-smi-load@gpu-01", ".samples"+path, to)
	}
	rules(t, 2, []checktest.Rule{
		checktest.When("as much memory as the profile demands is enough", fact("gpu-01", "memoryKiB", 640<<20), fact("gpu-02", "memoryKiB", 640<<20)).Passes(),
		checktest.When("a KiB less memory is not enough", fact("gpu-01", "memoryKiB", 640<<20-1), fact("gpu-02", "memoryKiB", 640<<20)).Fails("gpu-01", "expected at least 640 GiB"),
		checktest.When("a host may have less memory by the profile's spread", fact("gpu-01", "memoryKiB", 980<<20), fact("gpu-02", "memoryKiB", 1000<<20)).Passes(),
		checktest.When("a KiB less than the spread allows is a DIMM", fact("gpu-01", "memoryKiB", 980<<20-1), fact("gpu-02", "memoryKiB", 1000<<20)).Fails("gpu-01", "the other nodes have 1000 GiB"),
		checktest.When("an applications clock without a default is not compared", gpu1("applicationsClockMHz", 1410)...).Passes(),
		checktest.When("a default without an applications clock is not compared", gpu1("defaultApplicationsClockMHz", 1410)...).Passes(),
		checktest.When("an applications clock may be the default", append(gpu1("applicationsClockMHz", 1410), gpu1("defaultApplicationsClockMHz", 1410)...)...).Passes(),
		checktest.When("an applications clock may be above the default", append(gpu1("applicationsClockMHz", 1980), gpu1("defaultApplicationsClockMHz", 1410)...)...).Passes(),
		checktest.When("a MHz below the default is a lower clock", append(gpu1("applicationsClockMHz", 1409), gpu1("defaultApplicationsClockMHz", 1410)...)...).Fails("gpu-01/gpu0", "set to 1409 MHz"),
		checktest.When("corrected errors in SRAM may reach the limit", append(gpu1("volatileErrors.sramCorrectable", 10_000), gpu1("aggregateErrors.sramCorrectable", 10_000)...)...).Passes(),
		checktest.When("one corrected error in SRAM more is too many", gpu1("volatileErrors.sramCorrectable", 10_001)...).Fails("gpu-01/gpu0", "10001 corrected ECC errors (volatile SRAM), expected at most 10000"),
		checktest.When("corrected errors in DRAM may reach the limit", append(gpu1("volatileErrors.dramCorrectable", 20_000_000), gpu1("aggregateErrors.dramCorrectable", 20_000_000)...)...).Passes(),
		checktest.When("one corrected error in DRAM more is too many", gpu1("aggregateErrors.dramCorrectable", 20_000_001)...).Fails("gpu-01/gpu0", "(aggregate DRAM), expected at most 20000000"),
		checktest.When("remapped rows may reach the limit", append(gpu1("remappedRows.correctableRows", 512), gpu1("remappedRows.uncorrectableRows", 512)...)...).Passes(),
		checktest.When("one row more after corrected errors is too many", gpu1("remappedRows.correctableRows", 513)...).Fails("gpu-01/gpu0", "513 rows remapped after corrected errors"),
		checktest.When("a memory channel that awaits its repair fails", gpu1("channelRepairPending", true)...).Fails("gpu-01/gpu0", "channel repair is pending"),
		checktest.When("a TPC that awaits its repair fails", gpu1("tpcRepairPending", true)...).Fails("gpu-01/gpu0", "TPC repair is pending"),
		checktest.When("repairs that are not pending are healthy", append(gpu1("channelRepairPending", false), gpu1("tpcRepairPending", false)...)...).Passes(),
		checktest.When("a GPU as busy as busy is under load", load("[*][*].util", 50)).Passes(),
		checktest.When("the clock under load may be the profile's minimum", load("[*][*].smClockMHz", 1700)).Passes(),
		checktest.When("a MHz less under load is too low", load("[*][0].smClockMHz", 1699)).Fails("gpu-01/gpu0", "rose to 1699 MHz"),
		checktest.When("95 % of the power limit is the power limit", load("[*][0].smClockMHz", 1400), load("[*][0].powerW", 665)).Unobserved("gpu-01/gpu0", "at its power limit in every sample"),
		checktest.When("less than 95 % of the power limit does not excuse a low clock", load("[*][0].smClockMHz", 1400), load("[*][0].powerW", 664.9)).Fails("gpu-01/gpu0", "rose to 1400 MHz"),
		checktest.When("one sample below the power limit does not excuse a low clock, be it the last", load("[*][0].smClockMHz", 1400), load("[*][0].powerW", 700), load("[last][0].powerW", 300)).Fails("gpu-01/gpu0", "rose to 1400 MHz"),
		checktest.When("one sample below the power limit does not excuse a low clock, be it the first", load("[*][0].smClockMHz", 1400), load("[*][0].powerW", 300), load("[last][0].powerW", 700)).Fails("gpu-01/gpu0", "rose to 1400 MHz"),
		checktest.When("a sample without power draw does not excuse a low clock", load("[*][0].smClockMHz", 1400), load("[*][0].powerW", checktest.LeftOut)).Fails("gpu-01/gpu0", "rose to 1400 MHz"),
		checktest.When("a sample without power limit does not excuse a low clock", load("[*][0].smClockMHz", 1400), load("[*][0].powerLimitW", checktest.LeftOut)).Fails("gpu-01/gpu0", "rose to 1400 MHz"),
	})
}

// TestClockRules: which host's clock is wrong. An answer in the tests takes 40 ms, and the
// clock is read 10 ms after its begin and 10 ms before its end.
func TestClockRules(t *testing.T) {
	t.Parallel()
	ahead := func(host, clock, after string) []checktest.Change {
		return []checktest.Change{fact(host, "clock", clock), fact(host, "clockAfter", after)}
	}
	rules(t, 1, []checktest.Rule{
		checktest.When("an answer that leaves ten times the limit open is compared", checktest.Set("host@gpu-01", ".answeredAt", "2026-11-21T12:00:10.020Z")).Passes(),
		checktest.When("an answer that leaves more open is not compared", checktest.Set("host@gpu-01", ".answeredAt", "2026-11-21T12:00:10.021Z")).Unobserved("gpu-01", "known to 10.001s only"),
		checktest.When("a clock may be ahead by the limit", ahead("gpu-01", "2026-11-21T12:00:01.020Z", "2026-11-21T12:00:01.040Z")...).Passes(),
		checktest.When("a clock may not be ahead by more", ahead("gpu-01", "2026-11-21T12:00:01.021Z", "2026-11-21T12:00:01.041Z")...).Fails("gpu-01", "that of firstlight's own machine by at least 1.001s"),
		checktest.When("a clock may be behind by the limit", ahead("gpu-01", "2026-11-21T11:59:59.000Z", "2026-11-21T11:59:59.020Z")...).Passes(),
		checktest.When("a clock may not be behind by more", ahead("gpu-01", "2026-11-21T11:59:58.999Z", "2026-11-21T11:59:59.019Z")...).Fails("gpu-01", "that of firstlight's own machine by at least 1.001s"),
	})
	rules(t, 2, []checktest.Rule{
		checktest.When("two clocks that differ by the limit agree", ahead("gpu-02", "2026-11-21T12:00:01.030Z", "2026-11-21T12:00:01.050Z")...).Passes(),
		checktest.When("two clocks that differ by more are compared with firstlight's", ahead("gpu-02", "2026-11-21T12:00:01.031Z", "2026-11-21T12:00:01.051Z")...).Fails("gpu-02", "that of firstlight's own machine by at least 1.011s"),
	})
	rules(t, 3, []checktest.Rule{
		checktest.When("a clock behind by the limit agrees, and makes a majority",
			append(ahead("gpu-01", "2026-11-21T11:59:58.990Z", "2026-11-21T11:59:59.010Z"), ahead("gpu-03", "2026-11-21T12:00:05.010Z", "2026-11-21T12:00:05.030Z")...)...).Fails("gpu-03", "that of most nodes"),
		checktest.When("a clock ahead by the limit agrees, and makes a majority",
			append(ahead("gpu-01", "2026-11-21T12:00:01.030Z", "2026-11-21T12:00:01.050Z"), ahead("gpu-03", "2026-11-21T11:59:55.010Z", "2026-11-21T11:59:55.030Z")...)...).Fails("gpu-03", "that of most nodes"),
	})
	rules(t, 4, []checktest.Rule{
		checktest.When("half of the clocks are not a majority", append(append(ahead("gpu-02", "2026-11-21T12:00:03.010Z", "2026-11-21T12:00:03.030Z"),
			ahead("gpu-03", "2026-11-21T12:00:03.010Z", "2026-11-21T12:00:03.030Z")...), ahead("gpu-04", "2026-11-21T12:00:09.010Z", "2026-11-21T12:00:09.030Z")...)...).Fails("gpu-02", "that of firstlight's own machine"),
	})
}

// TestHostRules: links of adapters, names and governors.
func TestHostRules(t *testing.T) {
	t.Parallel()
	// 25.390625 GT/s on 16 lanes carry 400 Gb/s, the port's rate
	const carries = 25.390625
	rules(t, 2, []checktest.Rule{
		checktest.When("a link that carries the port's rate is enough where most have no better", fact("gpu-01", "adapters.mlx5_1.speedGTs", carries), fact("gpu-02", "adapters.mlx5_1.speedGTs", carries)).Passes(),
		checktest.When("a link that carries a little less is not", fact("gpu-01", "adapters.mlx5_1.speedGTs", carries-0.01)).Fails("gpu-01/mlx5_1", "the adapter supports 32"),
		checktest.When("one of two hosts with a better link is not most", fact("gpu-01", "adapters.mlx5_1.speedGTs", carries)).Passes(),
		checktest.When("an unknown link is not a better one", fact("gpu-01", "adapters.mlx5_1.speedGTs", carries), fact("gpu-02", "adapters.mlx5_1", map[string]any{})).Unobserved("gpu-02/mlx5_1", "does not report the speed"),
		checktest.When("a link at full speed on fewer lanes is named by its lanes", fact("gpu-01", "adapters.mlx5_1.width", 8)).Fails("gpu-01/mlx5_1", "has 8 lanes, the adapter has 16"),
		checktest.When("a name that is not in the site is an alias where only half have their node's", fact("gpu-01", "name", "ip-10-0-0-1")).Passes(),
		checktest.When("governors differ where only half run at full speed", fact("gpu-01", "governors", map[string]int{"powersave": 112})).Passes(),
	})
	rules(t, 3, []checktest.Rule{
		checktest.When("a governor with no CPUs is not full speed", fact("gpu-01", "governors.performance", 0)).Unobserved("gpu-01", "0 CPU policies"),
		checktest.When("two of three at full speed are most", fact("gpu-01", "governors", map[string]int{"powersave": 112})).Fails("gpu-01", "most nodes have performance"),
		checktest.When("most hosts with a better link show that a link is slow", fact("gpu-01", "adapters.mlx5_1.speedGTs", carries)).Fails("gpu-01/mlx5_1", "the adapter supports 32"),
	})
}

// TestCardRules: how a GPU is found in several outputs.
func TestCardRules(t *testing.T) {
	t.Parallel()
	warned := []map[string]any{{"text": "GPU 3 is slow"}}
	rules(t, 2, []checktest.Rule{
		checktest.When("NVLinks are those of the GPU with their UUID", checktest.Set("nvidia-smi-nvlink@gpu-01", `.gpus[2].index`, 7), checktest.Set("nvidia-smi-nvlink@gpu-01", `.gpus[2].links[4].active`, false)).Fails("gpu-01/gpu2", "link 4 is down"),
		checktest.When("NVLinks of an unknown GPU are those of their number", checktest.Set("nvidia-smi-nvlink@gpu-01", `.gpus[2].uuid`, "GPU-other"), checktest.Set("nvidia-smi-nvlink@gpu-01", `.gpus[2].links[4].active`, false)).Fails("gpu-01/gpu2", "link 4 is down"),
		checktest.When("error counters are those of the GPU with their UUID", checktest.Set("nvidia-smi-nvlink-errors-after@gpu-01", `.gpus[2].index`, 7),
			checktest.Set("nvidia-smi-nvlink-errors-after@gpu-01", `.gpus[2].links[4].counters["CRC Errors"]`, 1)).Fails("gpu-01/gpu2", "CRC Errors grew by 1"),
		checktest.When("counters may have the names of the reasons", func() []checktest.Change {
			full := map[string]int{"hw_thermal_slowdown": 5, "hw_power_brake_slowdown": 7, "sw_thermal_slowdown": 9}
			return gpu1("clockCountersUS", full)
		}()...).Passes(),
		checktest.When("counters with the names of the reasons count, too", checktest.Set("nvidia-smi@gpu-01", ".log.gpus[0].clockCountersUS", map[string]int{"hw_thermal_slowdown": 5, "hw_power_brake_slowdown": 7, "sw_thermal_slowdown": 9}),
			checktest.Set("nvidia-smi-after@gpu-01", ".log.gpus[0].clockCountersUS", map[string]int{"hw_thermal_slowdown": 5, "hw_power_brake_slowdown": 8, "sw_thermal_slowdown": 9})).Fails("gpu-01/gpu0", "limited by hw_power_brake_slowdown"),
		checktest.When("GPUs without UUID are not the same GPU", append(gpu1("uuid", ""), checktest.Set("nvidia-smi@gpu-02", ".log.gpus[0].uuid", ""), checktest.Set("nvidia-smi-after@gpu-02", ".log.gpus[0].uuid", ""))...).Unobserved("gpu-01/gpu0", "its NVLinks are not listed"),
		checktest.When("a required diagnostic whose summary warns fails", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[1].status`, "Warn"), checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[1].warnings`, warned)).Fails("gpu-02/gpu3", "diagnostic pcie: Warn: GPU 3 is slow"),
		checktest.When("a diagnostic that passed may warn", checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[1].warnings`, warned)).Passes(),
		checktest.When("a GPU without a serial number is that of its number", checktest.Set("dcgmi-diag@gpu-02", `.diag.serials`, checktest.LeftOut),
			checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[2].status`, "Fail"), checktest.Set("dcgmi-diag@gpu-02", `.diag.tests[2].results[5].status`, "Fail")).Fails("gpu-02/gpu5", "diagnostic memory: Fail"),
		checktest.When("a diagnostic of other entities covers no GPU", checktest.Set("dcgmi-diag@gpu-01", `.diag.tests[2].results[*].group`, "CPU")).Unobserved("gpu-01", "diagnostic memory covered 0 of 8 GPUs"),
	})
}
