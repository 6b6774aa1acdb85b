package scenario_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

func node(tb testing.TB, c scenario.Scenario, name string) scenario.Node {
	tb.Helper()
	i := slices.IndexFunc(c.Nodes, func(n scenario.Node) bool { return n.Name == name })
	if i < 0 {
		tb.Fatalf("there is no node %s", name)
	}
	return c.Nodes[i]
}

func control(tb testing.TB, c scenario.Scenario, name string) scenario.Control {
	tb.Helper()
	i := slices.IndexFunc(c.Controls, func(c scenario.Control) bool { return c.Name == name })
	if i < 0 {
		tb.Fatalf("there is no control %s", name)
	}
	return c.Controls[i]
}

func TestNodesOfShapes(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	var names []string
	for _, n := range c.Nodes {
		names = append(names, n.Name)
	}
	if got, want := strings.Join(names, " "), "system-0 system-1 gpu-0 gpu-1 gpu-2 gpu-3 half-gpus-0 wrong-arch-0 half-gang-0"; got != want {
		t.Errorf("nodes %s, want %s", got, want)
	}
	second := node(t, c, "system-1")
	for k, v := range map[string]string{
		"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "node.kubernetes.io/instance-type": "m7i.4xlarge",
		"topology.kubernetes.io/region": "us-east-2", "topology.kubernetes.io/zone": "us-east-2b", scenariotest.NodeType: "system",
	} {
		if second.Labels[k] != v {
			t.Errorf("label %s is %q, want %q", k, second.Labels[k], v)
		}
	}
	gpu := node(t, c, "gpu-3")
	if len(gpu.Grants) != 2 || gpu.Grants[0] != (scenario.Grant{Component: scenariotest.Operator, Resource: scenariotest.Resource, Quantity: 8}) {
		t.Errorf("grants %v", gpu.Grants)
	}
	if _, there := gpu.Allocatable[scenariotest.Resource]; there {
		t.Error("GPUs exist before a component serves them")
	}
}

func TestDevicesComeFromTheirProviders(t *testing.T) {
	t.Parallel()
	nodes := scenariotest.Nodes()
	nodes.Accelerated.Devices = append(nodes.Accelerated.Devices, nodeprofile.Device{Name: "provider.io/nic", Quantity: 1, Request: 1, Use: nodeprofile.UseFabric, From: nodeprofile.FromProvider})
	components := scenariotest.Components()
	c := scenariotest.Build(t, "inference", slices.Concat(components[:1], components[3:]), nodes)
	gpu := node(t, c, "gpu-0")
	if q := gpu.Allocatable["provider.io/nic"]; q.Value() != 1 {
		t.Errorf("the provider's device is missing at the start: %v", gpu.Allocatable)
	}
	if len(gpu.Grants) != 0 || len(gpu.Lacks) != 2 {
		t.Errorf("grants %v, lacks %v", gpu.Grants, gpu.Lacks)
	}
	asked := c.Probe.Pod.Requests
	if q := asked[scenariotest.Resource]; q.Value() != 8 {
		t.Error("the probe does not request GPUs: a recipe without a device plugin would pass")
	}
	if _, there := asked[scenariotest.Fabric]; there {
		t.Error("the probe asks for a fabric that the recipe does not have")
	}
	if _, there := asked["provider.io/nic"]; !there {
		t.Error("the probe does not ask for the provider's fabric")
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for intent, kind := range map[string]string{"training": scenario.Gang, "inference": scenario.Replicas, "": scenario.Replicas} {
		p := scenariotest.Scenario(t, intent).Probe
		if p.Kind != kind || p.Size != 4 {
			t.Errorf("intent %q: %d %s, want 4 %s", intent, p.Size, p.Kind, kind)
		}
		if p.Pod.PriorityClassName != "" {
			t.Errorf("the probe has a priority: it could displace others")
		}
	}
	c := scenariotest.Scenario(t, "training")
	expressions := c.Probe.Pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
	if len(expressions) != 2 || expressions[0].Key != "kubernetes.io/arch" || expressions[1].Key != scenario.ProductLabel {
		t.Errorf("requires %v", expressions)
	}
	components := scenariotest.Components()
	for i := range components[1].Workloads {
		components[1].Workloads[i].Discovers = false
	}
	c = scenariotest.Build(t, "training", components, scenariotest.Nodes())
	if n := len(c.Probe.Pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions); n != 1 {
		t.Errorf("requires a product that nothing discovers: %d expressions", n)
	}
}

func TestProbeCarriesWhatWorkloadsCarry(t *testing.T) {
	t.Parallel()
	nodes := scenariotest.Nodes()
	arm := corev1.Toleration{Key: "kubernetes.io/arch", Operator: corev1.TolerationOpEqual, Value: "arm64"}
	nodes.WorkloadTolerations = []corev1.Toleration{arm}
	nodes.WorkloadSelector = map[string]string{"cloud/accelerator": "gb200"}
	p := scenariotest.Build(t, "training", scenariotest.Components(), nodes).Probe.Pod
	if len(p.Tolerations) != 2 || p.Tolerations[0].Key != nodeprofile.GPUTaint || p.Tolerations[1] != arm {
		t.Errorf("tolerates %v", p.Tolerations)
	}
	if p.NodeSelector["cloud/accelerator"] != "gb200" {
		t.Errorf("selects %v", p.NodeSelector)
	}
}

func TestSettledLabels(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	labels := scenario.Settled(node(t, c, "gpu-0"), c.Components)
	for _, k := range []string{scenariotest.PCI, scenariotest.Deploy + "driver", scenario.ProductLabel} {
		if labels[k] == "" {
			t.Errorf("a GPU node does not get %s", k)
		}
	}
	if labels := scenario.Settled(node(t, c, "system-0"), c.Components); labels[scenariotest.PCI] != "" || labels[scenariotest.Deploy+"driver"] != "" {
		t.Errorf("a system node gets labels of GPU nodes: %v", labels)
	}
	off := scenariotest.Components()
	off[0].Workloads[1].Pod.NodeSelector = map[string]string{scenariotest.NodeType: "system"}
	if labels := scenario.Settled(node(t, c, "gpu-0"), off); labels[scenariotest.PCI] != "" {
		t.Error("a worker that does not run on a node finds something there")
	}
}

func TestDaemonSetNodes(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	exporter, onSystem := c.Components[3].Workloads[3], c.Components[3].Workloads[4]
	gpu := node(t, c, "gpu-0")
	if !scenario.Wants(exporter, gpu, gpu.Labels) {
		t.Error("a pod for any node is not wanted on a GPU node")
	}
	if scenario.Wants(onSystem, gpu, gpu.Labels) {
		t.Error("a system pod that does not tolerate the taint is wanted on a GPU node")
	}
	onSystem.Class = footprint.Any
	if !scenario.Wants(onSystem, gpu, gpu.Labels) {
		t.Error("a taint is a hole for pods of any class, not an excuse")
	}
}

func TestInvalidInputsOfAScenarioAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component
		says   string
	}{
		"no system nodes": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component { n.System = nil; return c }, "no profile for the recipe's system nodes"},
		"no GPU nodes": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			n.Accelerated = nil
			return c
		}, "no profile for the recipe's GPU nodes"},
		"no count": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			n.System.Count = 0
			return c
		}, "invalid count 0"},
		"no GPUs": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			n.Accelerated.Devices = n.Accelerated.Devices[1:]
			return c
		}, "pods cannot request its GPUs"},
		"no architecture": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component { n.Arch = nil; return c }, "unknown architecture"},
		"component twice": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component { return append(c, c[3]) }, "duplicate component"},
		"workload twice": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[1].Workloads = append(c[1].Workloads, c[1].Workloads[0])
			return c
		}, "two workloads Deployment gpu-operator"},
		"discovers nowhere": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[0].Workloads[0].Discovers = true
			return c
		}, "must be a DaemonSet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := scenariotest.Nodes()
			components := tt.change(&nodes, scenariotest.Components())
			_, problems := scenario.Build("x", scenariotest.Recipe("training"), components, nodes)
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}
