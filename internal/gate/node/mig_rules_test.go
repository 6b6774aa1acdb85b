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
