package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

func TestHealthyPasses(t *testing.T) {
	t.Parallel()
	j := judge(t, healthy(t, 3))
	if j.Verdict != check.Passed || len(j.Findings) != 0 {
		t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	got := map[string]float64{}
	for _, f := range j.Figures {
		got[f.Name] = f.Value
		if f.Relation == "==" && f.Value != f.Limit || f.Relation == ">=" && f.Value < f.Limit || f.Relation == "<=" && f.Value > f.Limit {
			t.Errorf("a healthy figure breaks its limit: %+v", f)
		}
		if f.Relation != "" && f.Source == "" {
			t.Errorf("a limit without source: %+v", f)
		}
	}
	want := map[string]float64{
		"GPUs": 24, "lowest maximum SM clock": 1980, "lowest power limit": 700, "hottest GPU": 30,
		"most uncorrectable ECC errors of a GPU": 0, "most remapped rows of a GPU": 1, "NVLinks up": 24 * 18,
		"HCAs active at rate": 6, "required diagnostics passed": 21,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every single defect fails the gate and names its suspect.
func TestDefects(t *testing.T) {
	t.Parallel()
	on := func(i int, change func(*nvidia.GPU)) func([]*hostSeen) {
		return func(h []*hostSeen) { h[1].gpu(i, change) }
	}
	event := func(e nvidia.XidEvent) func([]*hostSeen) {
		return func(h []*hostSeen) { e.Count = 1; h[1].Kernel.Events = []nvidia.XidEvent{e} }
	}
	hardware := func(e nvidia.XidEvent) func([]*hostSeen) {
		return func(h []*hostSeen) { e.Count = 2; h[1].Kernel.Hardware = []nvidia.XidEvent{e} }
	}
	tests := map[string]struct {
		change  func([]*hostSeen)
		suspect string
		message string
	}{
		"lost GPU": {func(h []*hostSeen) {
			h[1].lose(3)
			h[1].After.Trouble.Lost = []nvidia.LostGPU{{BusID: bus(3), Text: "Unable to determine the device handle"}}
		}, "gpu-02/gpu3", "does not answer"},
		"GPU with a fault that only a message tells": {func(h []*hostSeen) {
			h[1].Before.Trouble.Faulty = []nvidia.LostGPU{{BusID: bus(3), Text: "WARNING: infoROM is corrupted at gpu 0000:1E:00.0"}}
		}, "gpu-02/gpu3", "infoROM is corrupted"},
		"GPU missing without a word": {func(h []*hostSeen) { h[1].lose(3) }, "gpu-02/gpu3", "lists 7 GPUs"},
		"GPU missing everywhere": {func(h []*hostSeen) {
			for _, x := range h {
				x.lose(7)
			}
		}, "gpu-02", "lists 7 GPUs"},
		"attached count short": {func(h []*hostSeen) { h[1].After.Log.Attached = 7 }, "gpu-02", "attached: 7"},
		"no NVML": {func(h []*hostSeen) {
			h[1].Before = smiSeen{Trouble: nvidia.SMIErrors{NVML: "Failed to initialize NVML: Driver/library version mismatch"}}
			h[1].After = h[1].Before
		}, "gpu-02", "Driver/library version mismatch"},
		"figures that cannot be read": {on(2, func(g *nvidia.GPU) { g.Errors = []string{"ecc_mode: GPU is lost"} }), "gpu-02/gpu2", "GPU is lost"},
		"another product":             {on(2, func(g *nvidia.GPU) { g.Product = "NVIDIA A100-SXM4-80GB" }), "gpu-02/gpu2", "A100"},
		"too little memory":           {on(2, func(g *nvidia.GPU) { g.MemoryTotalMiB = new(int64(40000)) }), "gpu-02/gpu2", "40000 MiB"},
		"another driver":              {func(h []*hostSeen) { h[1].After.Log.Driver = "570.1" }, "gpu-02", "driver is 570.1"},
		"another VBIOS":               {on(2, func(g *nvidia.GPU) { g.VBIOS = "95.00" }), "gpu-02/gpu2", "VBIOS is 95.00"},
		"one host under two names": {func(h []*hostSeen) {
			h[1].Before, h[1].After, h[1].Links, h[1].CountedAfter = h[0].Before, h[0].After, h[0].Links, h[0].CountedAfter
			h[1].Load = h[0].Load
		}, "gpu-02/gpu0", "same GPU"},
		"ECC off":                     {on(2, func(g *nvidia.GPU) { g.ECC = "Disabled" }), "gpu-02/gpu2", "ECC is Disabled"},
		"volatile error":              {on(2, func(g *nvidia.GPU) { g.Volatile.DRAMUncorrectable = new(int64(1)) }), "gpu-02/gpu2", "volatile DRAM"},
		"aggregate error":             {on(2, func(g *nvidia.GPU) { g.Aggregate.SRAMUncorrectable = new(int64(2)) }), "gpu-02/gpu2", "aggregate SRAM"},
		"SRAM threshold":              {on(2, func(g *nvidia.GPU) { g.SRAMThresholdExceeded = new(true) }), "gpu-02/gpu2", "threshold"},
		"unrepairable memory":         {on(2, func(g *nvidia.GPU) { g.UnrepairableMemory = new(true) }), "gpu-02/gpu2", "cannot be repaired"},
		"bank remap pending":          {on(2, func(g *nvidia.GPU) { g.BankRemapPending = new(true) }), "gpu-02/gpu2", "bank remapping is pending"},
		"page retirement pending":     {on(2, func(g *nvidia.GPU) { g.PageRetirementPending = new(true) }), "gpu-02/gpu2", "page retirement is pending"},
		"ECC off after the next boot": {on(2, func(g *nvidia.GPU) { g.ECCPending = "Disabled" }), "gpu-02/gpu2", "ECC is Enabled, and Disabled after the next reset"},
		"vGPU without licence":        {on(2, func(g *nvidia.GPU) { g.License = "Unlicensed (Restricted)" }), "gpu-02/gpu2", "Unlicensed"},
		"error in a MIG device": {on(2, func(g *nvidia.GPU) {
			g.MIG = &nvidia.MIG{Enabled: new(false), Pending: new(false), Devices: []nvidia.MIGDevice{{GPUInstance: new(int64(3)), SRAMUncorrectable: new(int64(1))}}}
		}), "gpu-02/gpu2", "1 uncorrectable ECC errors (GPU instance 3)"},
		"remap pending":               {on(2, func(g *nvidia.GPU) { g.Remap.Pending = new(true) }), "gpu-02/gpu2", "pending"},
		"remap failed":                {on(2, func(g *nvidia.GPU) { g.Remap.Failure = new(true) }), "gpu-02/gpu2", "remapping failed"},
		"too many remapped rows":      {on(2, func(g *nvidia.GPU) { g.Remap.UncorrectableRows = new(int64(513)) }), "gpu-02/gpu2", "513 rows"},
		"throttling":                  {on(2, func(g *nvidia.GPU) { g.ClockReasons["hw_thermal_slowdown"] = true }), "gpu-02/gpu2", "hw_thermal_slowdown"},
		"throttled under load, heat":  {func(h []*hostSeen) { h[1].After.Log.GPUs[2].ClockCountersUS["hw_therm_slowdown"] = 1_000_005 }, "gpu-02/gpu2", "1.000 s"},
		"throttled under load, power": {func(h []*hostSeen) { h[1].After.Log.GPUs[2].ClockCountersUS["hw_power_brake"] = 2_000_007 }, "gpu-02/gpu2", "2.000 s"},
		"clocks capped":               {on(2, func(g *nvidia.GPU) { g.MaxSMClockMHz = new(int64(1410)) }), "gpu-02/gpu2", "1410 MHz"},
		"applications clocks capped": {on(2, func(g *nvidia.GPU) {
			g.AppClockMHz, g.DefaultAppClockMHz = new(int64(1410)), new(int64(1980))
		}), "gpu-02/gpu2", "applications clock"},
		"power capped":            {on(2, func(g *nvidia.GPU) { g.PowerLimitW = new(500.0) }), "gpu-02/gpu2", "500 W"},
		"power below the default": {on(2, func(g *nvidia.GPU) { g.DefaultPowerLimitW = new(750.0) }), "gpu-02/gpu2", "default is 750 W"},
		"narrow PCIe link":        {on(2, func(g *nvidia.GPU) { g.PCIeWidth = new(int64(8)) }), "gpu-02/gpu2", "8 lanes"},
		"slow PCIe slot":          {on(2, func(g *nvidia.GPU) { g.PCIeMaxGen = new(int64(3)) }), "gpu-02/gpu2", "generation 3"},
		"recovery asked for":      {on(2, func(g *nvidia.GPU) { g.RecoveryAction = "Node Reboot Required" }), "gpu-02/gpu2", "Node Reboot"},
		"no fabric manager":       {on(2, func(g *nvidia.GPU) { g.FabricState = "In Progress" }), "gpu-02/gpu2", "In Progress"},
		"NVLink down":             {func(h []*hostSeen) { h[1].Links.GPUs[2].Links[4].Active = false }, "gpu-02/gpu2", "link 4 is down"},
		"NVLink slow":             {func(h []*hostSeen) { h[1].Links.GPUs[2].Links[4].GBps = 12 }, "gpu-02/gpu2", "12 GB/s"},
		"NVLinks all inactive": {func(h []*hostSeen) {
			h[1].Links.GPUs[2] = nvidia.NVLinks{Index: 2, UUID: "GPU-1-2", AllInactive: true}
		}, "gpu-02/gpu2", "all NVLinks"},
		"NVLinks too few":  {func(h []*hostSeen) { h[1].Links.GPUs[2].Links = h[1].Links.GPUs[2].Links[:17] }, "gpu-02/gpu2", "17 NVLinks"},
		"HCA missing":      {func(h []*hostSeen) { h[1].HCAs.HCAs = h[1].HCAs.HCAs[:1] }, "gpu-02/mlx5_1", "is missing"},
		"HCA down":         {func(h []*hostSeen) { h[1].HCAs.HCAs[1].Ports[0].State = "Down" }, "gpu-02/mlx5_1", "is Down"},
		"HCA initializing": {func(h []*hostSeen) { h[1].HCAs.HCAs[1].Ports[0].State = "Initializing" }, "gpu-02/mlx5_1", "Initializing"},
		"HCA slow":         {func(h []*hostSeen) { h[1].HCAs.HCAs[1].Ports[0].RateGbps = 200 }, "gpu-02/mlx5_1", "200 Gb/s"},
		"diagnostic failed": {func(h []*hostSeen) {
			h[1].result("memory", 5, nvidia.DiagFail, nvidia.DiagWarning{Text: "faulty memory", Severity: nvidia.SeverityIsolate})
			h[1].Diag.Outcome = nvidia.DiagIsolate
		}, "gpu-02/gpu5", "faulty memory"},
		"diagnostic failed, by serial": {func(h []*hostSeen) {
			h[1].result("memory", 5, nvidia.DiagFail, nvidia.DiagWarning{Text: "faulty memory"})
			h[1].Diag.Diag.Serials[5], h[1].Diag.Diag.Serials[6] = h[1].Diag.Diag.Serials[6], h[1].Diag.Diag.Serials[5]
		}, "gpu-02/gpu6", "faulty memory"},
		"required diagnostic skipped": {func(h []*hostSeen) { h[1].result("memory", 5, nvidia.DiagSkip) }, "gpu-02", "memory on gpu5"},
		"required diagnostic warned":  {func(h []*hostSeen) { h[1].result("pcie", 5, nvidia.DiagWarn, nvidia.DiagWarning{Text: "slow"}) }, "gpu-02/gpu5", "Warn: slow"},
		"summary failed":              {func(h []*hostSeen) { h[1].Diag.Diag.Tests[2].Status = nvidia.DiagFail }, "gpu-02", "memory: Fail"},
		"exit code of a failed test":  {func(h []*hostSeen) { h[1].Diag.Outcome, h[1].Diag.Meaning = nvidia.DiagTestFailed, "a test failed" }, "gpu-02", "a test failed"},
		"failed in a test not required": {func(h []*hostSeen) {
			h[1].Diag.Diag.Tests = append(h[1].Diag.Diag.Tests, nvidia.DiagTest{Name: "memtest", Status: nvidia.DiagFail, Results: []nvidia.DiagResult{
				{Status: nvidia.DiagFail, Warnings: []nvidia.DiagWarning{{Text: "GPU 4 had memory errors"}}}}})
		}, "gpu-02/gpu4", "memtest: Fail"},
		"Xid to reboot":               {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 79, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 79 (reboot)"},
		"Xid to reset":                {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 48, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 48 (reset)"},
		"Xid to isolate":              {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 54, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 54 (isolate)"},
		"fatal Xid of NVLink 5":       {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 149, PCI: "0000:1e:00", Fatal: true}), "gpu-02/gpu3", "Xid 149 (reset)"},
		"Xid of a halted PMU":         {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 62, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 62 (reset)"},
		"Xid of no memory repair":     {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 157, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 157 (isolate)"},
		"Xid for support alone":       {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 142, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 142 (isolate)"},
		"Xid of no spare channel":     {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 161, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 161 (isolate)"},
		"Xid of uncorrectable RAM":    {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 172, PCI: "0000:1e:00"}), "gpu-02/gpu3", "Xid 172 (reset)"},
		"Xid of no known GPU":         {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 79, PCI: "0009:1e:00"}), "gpu-02", "Xid 79"},
		"recovery action":             {event(nvidia.XidEvent{Kind: nvidia.KindXid, Code: 154, PCI: "0000:1e:00", Action: "GPU Reset Required"}), "gpu-02/gpu3", "Xid 154"},
		"uncorrected error of a DIMM": {hardware(nvidia.XidEvent{Kind: nvidia.KindMemory, Device: "MC3", Fatal: true, Text: "EDAC MC3: 1 UE"}), "gpu-02", "memory error, 2 times, of the host: EDAC MC3: 1 UE"},
		"uncorrected machine check":   {hardware(nvidia.XidEvent{Kind: nvidia.KindProcessor, Fatal: true}), "gpu-02", "processor error"},
		"fatal PCIe error of a GPU":   {hardware(nvidia.XidEvent{Kind: nvidia.KindPCIe, PCI: "0000:1e:00", Fatal: true}), "gpu-02/gpu3", "PCIe error"},
		"adapter without firmware":    {hardware(nvidia.XidEvent{Kind: nvidia.KindAdapter, PCI: "0000:41:00", Fatal: true}), "gpu-02", "adapter error"},
		"GPU that needs a reset":      {hardware(nvidia.XidEvent{Kind: nvidia.KindDriver, Fatal: true, Text: "Reset required"}), "gpu-02", "driver error, 2 times, of the host: Reset required"},
		"lost drive":                  {hardware(nvidia.XidEvent{Kind: nvidia.KindDrive, Device: "nvme0", Fatal: true}), "gpu-02", "drive error"},
		"unhealthy NVLink fabric": {on(2, func(g *nvidia.GPU) {
			g.FabricHealth = map[string]string{"summary": "Unhealthy", "bandwidth": "Degraded", "route_unhealthy": "True", "route_recovery_in_progress": "False", "incorrect_configuration": "None", "partition_assigned": "True"}
		}), "gpu-02/gpu2", "bandwidth Degraded, route_unhealthy True, summary Unhealthy"},
		"degraded NVLink fabric": {on(2, func(g *nvidia.GPU) {
			g.FabricHealth = map[string]string{"summary": "Healthy", "bandwidth": "Degraded"}
		}), "gpu-02/gpu2", "bandwidth Degraded"},
		// NVIDIA/k8s-test-infra, testdata/hardware/qx-vrnvl72.xml has the elements, NVIDIA's NVML guide the values.
		"NVLink fabric without partition": {on(2, func(g *nvidia.GPU) {
			g.FabricHealth = map[string]string{"summary": "Healthy", "partition_assigned": "False", "gfm_state": "Connected"}
		}), "gpu-02/gpu2", "partition_assigned False"},
		"NVLink fabric without its manager": {on(2, func(g *nvidia.GPU) {
			g.FabricHealth = map[string]string{"summary": "Healthy", "partition_assigned": "True", "gfm_state": "Disconnected"}
		}), "gpu-02/gpu2", "gfm_state Disconnected"},
		"fatal SXid":                     {event(nvidia.XidEvent{Kind: nvidia.KindSXid, Code: 20034, PCI: "0000:05:00", Device: "nvswitch0", Fatal: true}), "gpu-02/nvswitch0", "fatal"},
		"SXid of an access control list": {event(nvidia.XidEvent{Kind: nvidia.KindSXid, Code: 11004, PCI: "0000:05:00", Device: "nvswitch0"}), "gpu-02/nvswitch0", "non-fatal, and its recovery"},
		"SXid that stalls NVLink":        {event(nvidia.XidEvent{Kind: nvidia.KindSXid, Code: 12028, PCI: "0000:05:00", Device: "nvswitch0"}), "gpu-02/nvswitch0", "non-fatal, and its recovery"},
		"SXid of a heartbeat":            {event(nvidia.XidEvent{Kind: nvidia.KindSXid, Code: 19084, PCI: "0000:05:00", Device: "nvswitch0"}), "gpu-02/nvswitch0", "non-fatal, and its recovery"},
		"a diagnostic's summary says why": {func(h []*hostSeen) {
			test := &h[1].Diag.Diag.Tests[1]
			test.Status, h[1].Diag.Outcome = nvidia.DiagFail, nvidia.DiagTestFailed
			test.Warnings = []nvidia.DiagWarning{{Text: "A DBE was found in GPU 3.", Severity: nvidia.SeverityIsolate}}
		}, "gpu-02/gpu3", "pcie: Fail: A DBE was found in GPU 3."},
		"a defect seen before": {func(h []*hostSeen) { h[1].Before.Log.GPUs[2].ClockReasons["hw_slowdown"] = true }, "gpu-02/gpu2", "hw_slowdown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, 3)
			tt.change(hosts)
			j := judge(t, hosts)
			if j.Verdict != check.Failed {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			i := slices.IndexFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect })
			if i < 0 || !strings.Contains(j.Findings[i].Message, tt.message) {
				t.Fatalf("no finding of %s with %q: %+v", tt.suspect, tt.message, j.Findings)
			}
			if f := j.Findings[i]; f.Remedy == "" || len(f.Observations) == 0 {
				t.Errorf("without remedy or evidence: %+v", f)
			}
		})
	}
}

// TestDCGM3Passes: the tests of dcgmi diag -r 3 as DCGM 3.0.4 to 3.3.9 name
// them, and under the name that one of them had before.
func TestDCGM3Passes(t *testing.T) {
	t.Parallel()
	for _, denylist := range []string{"Denylist", "Blacklist"} {
		hosts := healthy(t, 3)
		for _, h := range hosts {
			h.Diag.Diag.Major, h.Diag.Diag.Tests = 3, nil
			for i, name := range []string{
				denylist, "NVML Library", "CUDA Main Library", "Permissions and OS Blocks", "Persistence Mode", "Environment Variables",
				"Page Retirement/Row Remap", "Graphics Processes", "Inforom", "PCIe", "GPU Memory", "Diagnostic", "Targeted Stress", "Targeted Power", "Memory Bandwidth",
			} {
				test := nvidia.DiagTest{Name: name, Status: nvidia.DiagPass, Results: []nvidia.DiagResult{{Status: nvidia.DiagPass}}}
				if i > 8 {
					test.Results = nil
					for gpu := range gpusPerNode {
						test.Results = append(test.Results, nvidia.DiagResult{Group: nvidia.DiagGroupGPU, ID: &gpu, Status: nvidia.DiagPass})
					}
				}
				h.Diag.Diag.Tests = append(h.Diag.Diag.Tests, test)
			}
		}
		j := judge(t, hosts)
		if j.Verdict != check.Passed {
			t.Errorf("%s: %s: %+v", denylist, j.Verdict, j.Findings)
		}
		for _, f := range j.Figures {
			if f.Relation == "==" && f.Value != f.Limit {
				t.Errorf("%s: %+v", denylist, f)
			}
		}
	}
}

// A test that DCGM added is in the report, and fails nothing while it passes.
func TestUnknownDiagnostic(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 3)
	id := 2
	hosts[1].Diag.Diag.Tests = append(hosts[1].Diag.Diag.Tests, nvidia.DiagTest{
		Name: "quantum", Status: nvidia.DiagPass, Results: []nvidia.DiagResult{{Group: nvidia.DiagGroupGPU, ID: &id, Status: nvidia.DiagPass}},
	})
	j := judge(t, hosts)
	i := slices.IndexFunc(j.Findings, func(f check.Finding) bool {
		return strings.Contains(f.Message, "ran quantum, a test unknown to firstlight: Pass")
	})
	if j.Verdict != check.Passed || i < 0 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Tests that did not run on healthy GPUs: NVIDIA/DCGM issues 272 (H100, DCGM 4.4 and 4.5.0), 253 (B200, L40S) and 254.
func TestDiagnosticDidNotRun(t *testing.T) {
	t.Parallel()
	busy := nvidia.DiagWarning{Text: "The memory copy utilization for the GPU: 2 is greater than 10%. This may affect the results of the nvbandwidth test.", Severity: nvidia.SeverityIsolate}
	child := nvidia.DiagWarning{Text: "There was an internal error during the test: 'A child process (152) exited with non-zero status 1' Check DCGM and system logs for errors. Reset GPU. Restart DCGM. Rerun diagnostics."}
	output := nvidia.DiagWarning{Text: "There was an internal error during the test: 'Output of child process (11167) couldn't be parsed: '* Line 1, Column 1\n  Syntax error: value, object or array expected.\n'' Check DCGM and system logs for errors."}
	other := nvidia.DiagWarning{Text: "There was an internal error during the test: 'Unable to generate the CUDA contexts' Check DCGM and system logs for errors."}
	faulty := nvidia.DiagWarning{Text: "GPU 2 had memory errors"}
	tests := map[string]struct {
		test              string
		warnings, summary []nvidia.DiagWarning
		required          bool
		want              check.Verdict
		suspect           string
	}{
		"GPUs in use":                     {"nvbandwidth", []nvidia.DiagWarning{busy}, nil, false, check.Passed, "gpu-02"},
		"GPUs in use, required":           {"nvbandwidth", []nvidia.DiagWarning{busy}, nil, true, check.Unobserved, "gpu-02"},
		"GPUs in use and an error":        {"nvbandwidth", []nvidia.DiagWarning{busy, faulty}, nil, false, check.Failed, "gpu-02/gpu2"},
		"an error":                        {"nvbandwidth", []nvidia.DiagWarning{faulty}, nil, false, check.Failed, "gpu-02/gpu2"},
		"no message":                      {"nvbandwidth", nil, nil, false, check.Failed, "gpu-02/gpu2"},
		"no output":                       {"pcie", nil, []nvidia.DiagWarning{child, output}, true, check.Unobserved, "gpu-02"},
		"no output, of a GPU":             {"pcie", []nvidia.DiagWarning{output}, nil, true, check.Unobserved, "gpu-02"},
		"no output, and an error":         {"pcie", []nvidia.DiagWarning{faulty}, []nvidia.DiagWarning{output}, true, check.Failed, "gpu-02/gpu2"},
		"no output of another test":       {"memtest", nil, []nvidia.DiagWarning{child}, false, check.Failed, "gpu-02"},
		"an internal error of other kind": {"pcie", nil, []nvidia.DiagWarning{other}, true, check.Failed, "gpu-02"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := testProfile(t)
			p.Node.RequiredDiagnostics = map[string][]string{"4": {tt.test}}
			if !tt.required {
				p.Node.RequiredDiagnostics["4"] = []string{"memory"}
			}
			hosts := healthy(t, 3)
			for i, h := range hosts {
				test := nvidia.DiagTest{Name: tt.test, Status: nvidia.DiagPass}
				for gpu := range gpusPerNode {
					r := nvidia.DiagResult{Group: nvidia.DiagGroupGPU, ID: &gpu, Status: nvidia.DiagPass}
					if i == 1 {
						test.Status, test.Warnings = nvidia.DiagFail, tt.summary
						if len(tt.summary) == 0 {
							r.Status = nvidia.DiagFail
						}
						if gpu == 2 && len(tt.warnings) > 0 {
							r.Status, r.Warnings = nvidia.DiagFail, tt.warnings
						}
					}
					test.Results = append(test.Results, r)
				}
				h.Diag.Diag.Tests = append(slices.DeleteFunc(h.Diag.Diag.Tests, func(d nvidia.DiagTest) bool { return d.Name == tt.test }), test)
			}
			hosts[1].Diag.Outcome = nvidia.DiagTestFailed
			j := node.New(testSite(3), p, node.Deps{}).Judge(observations(t, hosts))
			if j.Verdict != tt.want || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, "diagnostic "+tt.test)
			}) {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}

// A newer driver's element of the fabric's health is in the report, and fails nothing without a bad word.
func TestUnknownFabricHealth(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 3)
	hosts[1].After.Log.GPUs[2].FabricHealth = map[string]string{"summary": "Healthy", "gfm_state": "Connected", "spare_lanes": "4"}
	j := judge(t, hosts)
	i := slices.IndexFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "unknown to firstlight: spare_lanes 4") })
	if j.Verdict != check.Passed || i < 0 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// A missing observation is never a pass, and the host is named.
func TestUnobserved(t *testing.T) {
	t.Parallel()
	tests := map[string]func([]*hostSeen){
		"no ECC mode":      func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.ECC = "" }) },
		"no ECC counts":    func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.Volatile.DRAMUncorrectable = nil }) },
		"no remap":         func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.Remap = nil }) },
		"no reason":        func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { delete(g.ClockReasons, "hw_slowdown") }) },
		"no clock":         func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.MaxSMClockMHz = nil }) },
		"no power limit":   func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.PowerLimitW = nil }) },
		"no width":         func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.PCIeWidth = nil }) },
		"no memory":        func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.MemoryTotalMiB = nil }) },
		"no VBIOS":         func(h []*hostSeen) { h[1].gpu(2, func(g *nvidia.GPU) { g.VBIOS = "" }) },
		"NVLinks of a GPU": func(h []*hostSeen) { h[1].Links.GPUs = h[1].Links.GPUs[:7] },
		"a test not there": func(h []*hostSeen) { h[1].Diag.Diag.Tests = h[1].Diag.Diag.Tests[1:] },
		"a test not run":   func(h []*hostSeen) { h[1].result("memory", 3, nvidia.DiagNotRun) },
		"a GPU not tested": func(h []*hostSeen) { h[1].Diag.Diag.Tests[3].Results = h[1].Diag.Diag.Tests[3].Results[:7] },
		"no results":       func(h []*hostSeen) { h[1].Diag.Diag.Tests[3].Results = nil },
		// NVIDIA/DCGM issue 284 (4.5): the memory test records an error and passes.
		"a pass with an error": func(h []*hostSeen) {
			h[1].result("memory", 3, nvidia.DiagPass, nvidia.DiagWarning{Text: "allocated less than 75.0% of GPU memory on GPU 3", ErrorID: 64})
		},
		"a summary that passes with an error": func(h []*hostSeen) {
			h[1].Diag.Diag.Tests[3].Warnings = []nvidia.DiagWarning{{Text: "allocated less than 75.0%", ErrorID: 64}}
		},
		"runtime error": func(h []*hostSeen) { h[1].Diag.Diag.RuntimeError = "unsupported GPU" },
		// NVIDIA/DCGM issue 94: dcgmi exits with NVVS_ERROR, as after a test that failed.
		"runtime error, with its exit code": func(h []*hostSeen) {
			h[1].Diag.Outcome, h[1].Diag.Diag.Tests = nvidia.DiagTestFailed, nil
			h[1].Diag.Diag.RuntimeError = "GPU 0's MIG configuration is incompatible with the diagnostic because it prevents access to the entire GPU."
		},
		"diagnostic busy":                      func(h []*hostSeen) { h[1].Diag.Outcome = nvidia.DiagIncomplete },
		"a kernel log whose beginning is gone": func(h []*hostSeen) { h[1].Kernel.FromBoot = false },
		"a switch's error of which no line says how": func(h []*hostSeen) {
			h[1].Kernel.Events = []nvidia.XidEvent{{Kind: nvidia.KindSXid, Code: 26006, PCI: "0000:05:00", Device: "nvswitch0", Unclassified: true, Count: 1}}
		},
		"an NVLink error of which no line says how": func(h []*hostSeen) {
			h[1].Kernel.Events = []nvidia.XidEvent{{Kind: nvidia.KindXid, Code: 145, PCI: "0000:1e:00", Unclassified: true, Count: 1}}
		},
		"unknown generation": func(h []*hostSeen) { h[1].Diag.Diag.Major = 5 },
		"nothing of a host": func(h []*hostSeen) {
			for _, k := range kinds {
				h[1].Gone[k] = true
			}
		},
	}
	for _, kind := range kinds {
		tests["gone: "+kind] = func(h []*hostSeen) { h[1].Gone[kind] = true }
		tests["broken: "+kind] = func(h []*hostSeen) { h[1].Broken[kind] = true }
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, 3)
			change(hosts)
			j := judge(t, hosts)
			if j.Verdict != check.Unobserved {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			for _, f := range j.Findings {
				if !strings.HasPrefix(f.Suspect, "gpu-02") || f.Remedy == "" {
					t.Errorf("finding %+v", f)
				}
			}
			if len(j.Findings) == 0 {
				t.Error("no suspect is named")
			}
		})
	}
}

func TestNotesDoNotFail(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 3)
	hosts[1].Kernel.Events = []nvidia.XidEvent{
		{Kind: nvidia.KindXid, Code: 13, PCI: "0000:1e:00", Count: 2},
		{Kind: nvidia.KindXid, Code: 9999, PCI: "0000:1f:00", Count: 1},
		{Kind: nvidia.KindXid, Code: 43, PCI: "0000:1b:00", Count: 1},
		{Kind: nvidia.KindXid, Code: 154, PCI: "0000:1e:00", Action: "None", Count: 1},
		{Kind: nvidia.KindDriver, PCI: "0000:20:00", Text: "RmInitAdapter failed! (0x62:0x40:2168)", Count: 1},
		{Kind: nvidia.KindXid, Code: 149, PCI: "0000:1e:00", Count: 1},
		{Kind: nvidia.KindXid, Code: 160, PCI: "0000:1e:00", Count: 1}, // NVIDIA's catalog ignores it
		// D.4 of NVIDIA's Fabric Manager guide: corrected ECC errors, replays, links shut down, and what "can be safely ignored".
		{Kind: nvidia.KindSXid, Code: 11012, Device: "nvswitch1", PCI: "0000:05:00", Count: 1},
		{Kind: nvidia.KindSXid, Code: 20001, Device: "nvswitch1", PCI: "0000:05:00", Count: 1},
		{Kind: nvidia.KindSXid, Code: 20012, Device: "nvswitch1", PCI: "0000:05:00", Count: 1},
		{Kind: nvidia.KindSXid, Code: 22013, Device: "nvswitch1", PCI: "0000:05:00", Count: 1},
	}
	hosts[2].Kernel.Hardware = []nvidia.XidEvent{{Kind: nvidia.KindMemory, Device: "MC1", Count: 3}, {Kind: nvidia.KindKernel, Count: 1}}
	hosts[1].gpu(0, func(g *nvidia.GPU) { g.ClockReasons["sw_power_cap"] = true }) // legal at full power
	hosts[1].After.Log.GPUs[0].ClockCountersUS["sw_power_cap"] = 1 << 40
	j := judge(t, hosts)
	if j.Verdict != check.Passed {
		t.Fatalf("%s: %s", j.Verdict, j.Reason)
	}
	var got []string
	for _, f := range j.Findings {
		got = append(got, f.Suspect)
	}
	if diff := cmp.Diff([]string{"gpu-02/gpu3", "gpu-02/gpu4", "gpu-02/gpu5", "gpu-02/nvswitch1", "gpu-03"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSiteDecidesTheDriver(t *testing.T) {
	t.Parallel()
	s := testSite(2)
	s.Inventory.DriverVersion = "590.1"
	j := node.New(s, testProfile(t), node.Deps{}).Judge(observations(t, healthy(t, 2)))
	if j.Verdict != check.Failed || len(j.Findings) != 2 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

func TestNothingIsNoPass(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	for name, g := range map[string]*node.Gate{
		"no hosts":        node.New(testSite(0), p, node.Deps{}),
		"no observations": node.New(testSite(3), p, node.Deps{}),
	} {
		if j := g.Judge(nil); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", name, j.Verdict)
		}
	}
}

// The order in which hosts were seen changes nothing.
func TestJudgeIgnoresOrder(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 3)
	hosts[0].gpu(1, func(g *nvidia.GPU) { g.ECC = "Disabled" })
	hosts[2].lose(4)
	obs := observations(t, hosts)
	g := node.New(testSite(3), testProfile(t), node.Deps{})
	want := g.Judge(obs)
	slices.Reverse(obs)
	if diff := cmp.Diff(want, g.Judge(obs)); diff != "" {
		t.Error(diff)
	}
}
