package node_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/site"
)

// TestMIGRules: the MIG mode of a GPU that has one is known and in effect.
func TestMIGRules(t *testing.T) {
	t.Parallel()
	mig := func(enabled, pending any) map[string]any {
		return map[string]any{"enabled": enabled, "pending": pending}
	}
	rules(t, 2, []checktest.Rule{
		checktest.When("a GPU without MIG is healthy", gpu1("mig", nil)...).Passes(),
		checktest.When("MIG that is off, and stays so, is healthy", gpu1("mig", mig(false, false))...).Passes(),
		checktest.When("MIG that the site does not declare fails", gpu1("mig", mig(true, true))...).Fails("gpu-01/gpu0", "is in MIG mode with no MIG device, and the site declares no MIG"),
		checktest.When("MIG that the next reset switches on fails", gpu1("mig", mig(false, true))...).Fails("gpu-01/gpu0", "MIG is disabled, and enabled after the next reset"),
		checktest.When("MIG that the next reset switches off fails", gpu1("mig", mig(true, false))...).Fails("gpu-01/gpu0", "MIG is enabled, and disabled after the next reset"),
		checktest.When("MIG without a pending mode is unknown", gpu1("mig", mig(false, nil))...).Unobserved("gpu-01/gpu0", "reports a part of its MIG mode"),
		checktest.When("MIG without a current mode is unknown", gpu1("mig", mig(nil, false))...).Unobserved("gpu-01/gpu0", "reports a part of its MIG mode"),
	})
}

// instance is a MIG device of a GPU instance with a memory of MiB.
func instance(number, memory int64) nvidia.MIGDevice {
	return nvidia.MIGDevice{GPUInstance: new(number), ComputeInstance: new(int64(0)), MemoryMiB: new(memory)}
}

// partition switches MIG on on every GPU of every host, with these devices.
func partition(hosts []*hostSeen, devices ...nvidia.MIGDevice) {
	for _, h := range hosts {
		for _, log := range []*nvidia.SMILog{h.Before.Log, h.After.Log} {
			for i := range log.GPUs {
				log.GPUs[i].MIG = &nvidia.MIG{Enabled: new(true), Pending: new(true), Devices: devices}
			}
		}
	}
}

// TestMIGLayout: the MIG devices of a host are those that the site declares, and none where it
// declares none.
func TestMIGLayout(t *testing.T) {
	t.Parallel()
	const small, half = 9856, 40448 // MiB of 1g.10gb and 3g.40gb on an H100 with 80 GB
	var seven []nvidia.MIGDevice
	for i := range int64(7) {
		seven = append(seven, instance(7+i, small))
	}
	gpus := int(testProfile(t).Node.GPUs.Value)
	all := &site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"1g.10gb": 7 * gpus}}
	first := func(h []*hostSeen) []*nvidia.GPU {
		return []*nvidia.GPU{&h[0].Before.Log.GPUs[0], &h[0].After.Log.GPUs[0]}
	}
	for name, tt := range map[string]struct {
		mig     *site.MIG
		alter   func([]*hostSeen)
		want    check.Verdict
		suspect string
		says    string
	}{
		"none, and none declared": {nil, func([]*hostSeen) {}, check.Passed, "", ""},
		"as declared":             {all, func(h []*hostSeen) { partition(h, seven...) }, check.Passed, "", ""},
		"mixed, with a whole GPU": {&site.MIG{Strategy: site.MIGMixed, Devices: map[string]int{"3g.40gb": 2 * (gpus - 1)}, WholeGPUs: 1}, func(h []*hostSeen) {
			partition(h, instance(1, half), instance(2, half))
			for _, host := range h {
				for _, log := range []*nvidia.SMILog{host.Before.Log, host.After.Log} {
					log.GPUs[0].MIG = &nvidia.MIG{Enabled: new(false), Pending: new(false)}
				}
			}
		}, check.Passed, "", ""},
		"undeclared":        {nil, func(h []*hostSeen) { partition(h[:1], seven...) }, check.Failed, "gpu-01/gpu0", "is in MIG mode with 7 MIG devices of 10 GB, and the site declares no MIG"},
		"declared and none": {all, func([]*hostSeen) {}, check.Failed, "gpu-01", "has no MIG device and"},
		"another profile":   {all, func(h []*hostSeen) { partition(h, instance(1, half), instance(2, half)) }, check.Failed, "gpu-01", "MIG devices of 40 GB"},
		"one GPU differs": {all, func(h []*hostSeen) {
			partition(h, seven...)
			for _, gpu := range first(h) {
				gpu.MIG = &nvidia.MIG{Enabled: new(true), Pending: new(true), Devices: seven[:6]}
			}
		}, check.Failed, "gpu-01", "gpu0: 6 MIG devices of 10 GB; gpu1: 7 MIG devices"},
		"a whole GPU too much": {all, func(h []*hostSeen) {
			partition(h, seven...)
			for _, gpu := range first(h) {
				gpu.MIG = &nvidia.MIG{Enabled: new(false), Pending: new(false)}
			}
		}, check.Failed, "gpu-01", "1 GPUs without MIG, and the site declares"},
		"divided instances": {all, func(h []*hostSeen) {
			partition(h, seven...)
			for _, gpu := range first(h) {
				gpu.MIG.Devices = append(append([]nvidia.MIGDevice{}, seven...), instance(7, small))
			}
		}, check.Failed, "gpu-01/gpu0", "GPU instance 7 is divided into 2 compute instances"},
		"no memory": {all, func(h []*hostSeen) {
			partition(h, seven...)
			for _, gpu := range first(h) {
				gpu.MIG.Devices = []nvidia.MIGDevice{{GPUInstance: new(int64(7))}}
			}
		}, check.Unobserved, "gpu-01/gpu0", "its profile is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, s := healthy(t, 2), testSite(2)
			tt.alter(hosts)
			s.GPUStack.MIG = tt.mig
			j := plan.Judge(node.New(s, testProfile(t), node.Deps{}), observations(t, hosts))
			lines := []string{j.Reason}
			for _, f := range j.Findings {
				lines = append(lines, f.Suspect+": "+f.Message)
			}
			text := strings.Join(lines, "\n")
			if j.Verdict != tt.want || !strings.Contains(text, tt.suspect+": ") && tt.suspect != "" || !strings.Contains(text, tt.says) {
				t.Errorf("%s, want %s of %s with %q: %s", j.Verdict, tt.want, tt.suspect, tt.says, text)
			}
		})
	}
}

// TestMIGLinks: MIG mode switches the NVLinks of a GPU before Hopper off, and of no other (NVIDIA Fabric Manager User
// Guide, Interoperability With MIG). Both texts are of nvidia-smi nvlink -s: links that are inactive, and all of them.
func TestMIGLinks(t *testing.T) {
	t.Parallel()
	const small = 9856
	declared := &site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"1g.10gb": 7 * gpusPerNode}}
	each := func(gpu *nvidia.NVLinks) {
		for l := range gpu.Links {
			gpu.Links[l] = nvidia.NVLink{Number: l}
		}
	}
	none := func(gpu *nvidia.NVLinks) { gpu.Links, gpu.AllInactive = nil, true }
	one := func(gpu *nvidia.NVLinks) { gpu.Links[17] = nvidia.NVLink{Number: 17} }
	for name, tt := range map[string]struct {
		hopper bool
		mig    *site.MIG
		alter  func(*nvidia.NVLinks)
		want   check.Verdict
		says   string
	}{
		"each is off, in MIG mode":         {false, declared, each, check.Passed, "the NVLinks of 8 GPUs are off, as MIG mode leaves them"},
		"all are off, in MIG mode":         {false, declared, none, check.Passed, "the NVLinks of 8 GPUs are off, as MIG mode leaves them"},
		"one is off, in MIG mode":          {false, declared, one, check.Failed, "17 of 18 NVLinks at rate: link 17 is down"},
		"all are off, in Hopper's mode":    {true, declared, none, check.Failed, "all NVLinks are inactive, expected 18"},
		"each is off, in Hopper's mode":    {true, declared, each, check.Failed, "0 of 18 NVLinks at rate"},
		"all are off, not in MIG mode":     {false, nil, none, check.Failed, "all NVLinks are inactive, expected 18"},
		"all are on, in Hopper's MIG mode": {true, declared, func(*nvidia.NVLinks) {}, check.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, s, p := healthy(t, 2), testSite(2), testProfile(t)
			s.GPUStack.MIG, p.Collective.NVLS = tt.mig, tt.hopper
			if tt.mig != nil {
				var seven []nvidia.MIGDevice
				for i := range int64(7) {
					seven = append(seven, instance(7+i, small))
				}
				partition(hosts, seven...)
			}
			for i := range hosts[1].Links.GPUs {
				tt.alter(&hosts[1].Links.GPUs[i])
			}
			j := plan.Judge(node.New(s, p, node.Deps{}), observations(t, hosts))
			var lines []string
			for _, f := range j.Findings {
				lines = append(lines, f.Suspect+": "+f.Message)
			}
			if text := strings.Join(lines, "\n"); j.Verdict != tt.want || !strings.Contains(text, tt.says) || tt.want == check.Passed && strings.Contains(text, "NVLinks") != (tt.says != "") {
				t.Errorf("%s (%s), want %s with %q: %s", j.Verdict, j.Reason, tt.want, tt.says, text)
			}
		})
	}
}

// TestMIGDiagnostic: dcgmi diag does not run on GPUs in MIG mode (NVIDIA/DCGM issues 31, 70 and 94), and they report
// no utilization (Syllo/nvtop pull request 470). The remedy is to accept them before.
func TestMIGDiagnostic(t *testing.T) {
	t.Parallel()
	const message = "GPU 0's MIG configuration is incompatible with the diagnostic because it prevents access to the entire GPU."
	for name, tt := range map[string]struct {
		mig  bool
		says []string
	}{
		"in MIG mode":     {true, []string{message, "is in MIG mode, in which nvidia-smi reports no utilization"}},
		"not in MIG mode": {false, []string{message, "was not under load in any of 3 samples"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts, s := healthy(t, 2), testSite(2)
			if tt.mig {
				s.GPUStack.MIG = &site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"3g.40gb": gpusPerNode}}
				partition(hosts, instance(1, 40448))
			}
			h := hosts[1]
			h.Diag.Outcome, h.Diag.Diag.Tests, h.Diag.Diag.RuntimeError = nvidia.DiagTestFailed, nil, message
			for _, sample := range h.Load.Samples {
				for i := range sample {
					sample[i].Util = nil
				}
			}
			j := plan.Judge(node.New(s, testProfile(t), node.Deps{}), observations(t, hosts))
			var text strings.Builder
			for _, f := range j.Findings {
				text.WriteString(f.Suspect + ": " + f.Message + "\n")
				if strings.Contains(f.Remedy, "needs whole GPUs") != tt.mig {
					t.Errorf("remedy of %s: %s", f.Suspect, f.Remedy)
				}
			}
			for _, says := range tt.says {
				if !strings.Contains(text.String(), says) {
					t.Errorf("no %q in %s", says, text.String())
				}
			}
			if j.Verdict != check.Unobserved {
				t.Errorf("%s: %s", j.Verdict, text.String())
			}
		})
	}
}
