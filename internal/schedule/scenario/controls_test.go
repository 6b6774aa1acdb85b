package scenario_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

func TestControls(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	for _, name := range []string{scenario.DropToleration, scenario.DropSelector, scenario.HalfGPUs, scenario.WrongArch, scenario.HalfGang} {
		if got := control(t, c, name); got.NotApplicable != "" || len(got.Nodes) == 0 || got.Workload.Name != name {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := control(t, c, scenario.DropToleration); len(got.Workload.Pod.Tolerations) != 0 || len(got.Nodes) != 4 {
		t.Errorf("drop-toleration: %+v", got)
	}
	if len(c.Probe.Pod.Tolerations) == 0 {
		t.Error("the control took the probe's own toleration away")
	}
	if got := control(t, c, scenario.DropSelector); got.Of != scenariotest.EFA+"/efa" || len(got.Nodes) != 2 || got.Workload.Pod.Affinity != nil {
		t.Errorf("drop-selector: %+v", got)
	}
	for name, gpus := range map[string]int64{scenario.HalfGPUs: 4, scenario.WrongArch: 8, scenario.HalfGang: 4} {
		n := node(t, c, name+"-0")
		if q := n.Allocatable[scenariotest.Resource]; q.Value() != gpus {
			t.Errorf("%s has %s GPUs, want %d", n.Name, q.String(), gpus)
		}
		if q := n.Allocatable[scenariotest.Fabric]; q.Value() != 32 {
			t.Errorf("%s has not the fabric that the probe asks for", n.Name)
		}
		if n.Control != name || n.Labels[scenario.ProductLabel] == "" || n.Labels[scenariotest.Deploy+"driver"] == "" || len(n.Grants)+len(n.Discovered) != 0 {
			t.Errorf("%s is not as a node is after discovery: %+v", n.Name, n)
		}
	}
	if arch := node(t, c, "wrong-arch-0").Labels[corev1.LabelArchStable]; arch != "arm64" {
		t.Errorf("the wrong architecture is %s", arch)
	}
	gang := control(t, c, scenario.HalfGang)
	if q := gang.Workload.Pod.Requests[scenariotest.Resource]; !gang.Gang || gang.Workload.Replicas != 2 || q.Value() != 4 || len(gang.Workload.Pod.Requests) != 1 {
		t.Errorf("half-gang: %+v", gang)
	}
}

// TestControlsFitTheirReason: by the scheduler's own matching each control's pod is
// refused by its nodes for the reason that it names, and the probe's is not.
func TestControlsFitTheirReason(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	probe := footprint.Workload{Kind: "Job", Pod: c.Probe.Pod}
	gpu := node(t, c, "gpu-0")
	if _, tainted := scenario.Untolerated(probe, gpu.Taints); tainted || !scenario.Selects(probe.Pod, gpu.Name, scenario.Settled(gpu, c.Components)) {
		t.Error("the probe does not fit the recipe's own nodes")
	}
	for _, control := range c.Controls {
		for _, name := range control.Nodes {
			n := node(t, c, name)
			labels := scenario.Settled(n, c.Components)
			_, tainted := scenario.Untolerated(control.Workload, n.Taints)
			chosen := scenario.Selects(control.Workload.Pod, name, labels)
			asked, has := control.Workload.Pod.Requests[scenariotest.Resource], n.Allocatable[scenariotest.Resource]
			short := asked.Value()*int64(max(control.Workload.Replicas, 1)) > has.Value()
			reason := map[string][3]bool{ // tainted, chosen, short
				scenario.DropToleration: {true, true, true}, scenario.HalfGPUs: {false, true, true},
				scenario.WrongArch: {false, false, false}, scenario.HalfGang: {false, true, true},
			}
			if want, ok := reason[control.Name]; ok && want != [3]bool{tainted, chosen, short} {
				t.Errorf("%s on %s: tainted %v, chosen %v, short %v", control.Name, name, tainted, chosen, short)
			}
		}
	}
}

func TestControlsThatDoNotApply(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		intent  string
		control string
		change  func(n *nodeprofile.Nodes, c []footprint.Component)
	}{
		"no taint": {"training", scenario.DropToleration, func(n *nodeprofile.Nodes, _ []footprint.Component) { n.Accelerated.Taints = nil }},
		"no operand": {"training", scenario.DropSelector, func(_ *nodeprofile.Nodes, c []footprint.Component) {
			for i := range c {
				for j := range c[i].Workloads {
					c[i].Workloads[j].Class = footprint.Any
				}
			}
		}},
		"taints keep them off": {"training", scenario.DropSelector, func(n *nodeprofile.Nodes, _ []footprint.Component) {
			n.System.Taints = []corev1.Taint{{Key: "system", Effect: corev1.TaintEffectNoSchedule}}
		}},
		"both architectures": {"training", scenario.WrongArch, func(n *nodeprofile.Nodes, _ []footprint.Component) { n.Arch = []string{"amd64", "arm64"} }},
		"no gang":            {"inference", scenario.HalfGang, func(*nodeprofile.Nodes, []footprint.Component) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, components := scenariotest.Nodes(), scenariotest.Components()
			tt.change(&nodes, components)
			c := scenariotest.Build(t, tt.intent, components, nodes)
			got := control(t, c, tt.control)
			if got.NotApplicable == "" || got.Reason != "" || len(got.Nodes) != 0 {
				t.Errorf("%+v", got)
			}
			for _, n := range c.Nodes {
				if n.Control == tt.control {
					t.Errorf("node %s must not exist", n.Name)
				}
			}
		})
	}
}

func TestOneGPU(t *testing.T) {
	t.Parallel()
	nodes := scenariotest.Nodes()
	nodes.Accelerated.Devices[0].Quantity, nodes.Accelerated.Devices[0].Request = 1, 1
	c := scenariotest.Build(t, "training", scenariotest.Components(), nodes)
	for name, gpus := range map[string]int64{"half-gpus-0": 0, "half-gang-0": 1} {
		if q := node(t, c, name).Allocatable[scenariotest.Resource]; q.Value() != gpus {
			t.Errorf("%s has %s GPUs, want %d", name, q.String(), gpus)
		}
	}
}
