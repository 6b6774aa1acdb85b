// Package scenariotest is a recipe for tests: nodes and components as they are on a
// cloud, small enough to be read.
package scenariotest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// Names that the fixture has.
const (
	NFD      = "node-feature-discovery"
	Operator = "gpu-operator"
	EFA      = "aws-efa-k8s-device-plugin"
	Monitor  = "monitoring"
	NodeType = "aicr.run/node-type"
	PCI      = "feature.node.kubernetes.io/pci-10de.present"
	Deploy   = "nvidia.com/gpu.deploy."
	Resource = "nvidia.com/gpu"
	Fabric   = "vpc.amazonaws.com/efa"
)

// Recipe is a resolved recipe of an intent, without a tree.
func Recipe(intent string) *resolve.Result {
	return &resolve.Result{Recipe: &model.Recipe{}, Query: criteria.Criteria{Service: "eks", Accelerator: "h100", Intent: intent}}
}

// Scenario is a recipe's scenario: 2 system nodes, 4 GPU nodes, 4 components.
func Scenario(tb testing.TB, intent string) scenario.Scenario {
	tb.Helper()
	return Build(tb, intent, Components(), Nodes())
}

// Build is scenario.Build where nothing may be wrong.
func Build(tb testing.TB, intent string, components []footprint.Component, nodes nodeprofile.Nodes) scenario.Scenario {
	tb.Helper()
	c, problems := scenario.Build("h100-eks", Recipe(intent), components, nodes)
	if err := problems.Err(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// Nodes are the shapes: m7i.4xlarge and p5.48xlarge.
func Nodes() nodeprofile.Nodes {
	return nodeprofile.Nodes{
		System: &nodeprofile.Node{
			Name: "eks-system", File: "nodes/eks/system.yaml", Provider: "eks", InstanceType: "m7i.4xlarge", Arch: "amd64",
			Count: 2, Region: "us-east-2", Zones: []string{"us-east-2a", "us-east-2b"},
			Capacity: List("cpu", "16", "memory", "64Gi", "pods", "110"), Allocatable: List("cpu", "15800m", "memory", "60Gi", "pods", "110"),
			Labels: map[string]string{NodeType: "system"},
		},
		Accelerated: &nodeprofile.Node{
			Name: "eks-p5", File: "nodes/eks/p5.yaml", Provider: "eks", Accelerator: "h100", InstanceType: "p5.48xlarge", Arch: "amd64",
			Count: 4, Region: "us-east-2", Zones: []string{"us-east-2a"},
			Capacity: List("cpu", "192", "memory", "2048Gi", "pods", "100"), Allocatable: List("cpu", "191450m", "memory", "1938410Mi", "pods", "100"),
			Labels: map[string]string{NodeType: "accelerated"},
			Taints: []corev1.Taint{{Key: nodeprofile.GPUTaint, Value: "present", Effect: corev1.TaintEffectNoSchedule}},
			Devices: []nodeprofile.Device{
				{Name: Resource, Quantity: 8, Request: 8, Use: nodeprofile.UseGPU, From: Operator},
				{Name: Fabric, Quantity: 32, Request: 32, Use: nodeprofile.UseFabric, From: EFA},
			},
			Discovered: map[string]map[string]string{
				NFD:      {PCI: "true"},
				Operator: {scenario.ProductLabel: "NVIDIA-H100-80GB-HBM3"},
			},
		},
		Arch: []string{"amd64"}, Products: []string{"NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"},
		WorkloadTolerations: []corev1.Toleration{gpuTaint},
	}
}

var gpuTaint = corev1.Toleration{Key: nodeprofile.GPUTaint, Operator: corev1.TolerationOpExists}

// Components in deployment order.
func Components() []footprint.Component {
	gpuOnly := []corev1.Toleration{gpuTaint}
	return []footprint.Component{
		{Name: NFD, File: "footprints/" + NFD + ".yaml", Workloads: []footprint.Workload{
			system("Deployment", "nfd-master", 1),
			{Kind: scenario.DaemonSet, Name: "nfd-worker", Namespace: "system", Class: footprint.Any, Discovers: true, Pod: footprint.Pod{Tolerations: gpuOnly}},
		}},
		{Name: Operator, File: "footprints/" + Operator + ".yaml", Workloads: []footprint.Workload{
			system("Deployment", "gpu-operator", 1), operand("driver"), operand("device-plugin", Resource), discovering(operand("gpu-feature-discovery")),
		}, Publishes: []footprint.Publication{{
			OnNodesWith: map[string]string{PCI: "true"},
			Labels:      map[string]string{Deploy + "driver": "true", Deploy + "device-plugin": "true", Deploy + "gpu-feature-discovery": "true"},
		}}},
		{Name: EFA, File: "footprints/" + EFA + ".yaml", Workloads: []footprint.Workload{{
			Kind: scenario.DaemonSet, Name: "efa", Namespace: "kube-system", Class: footprint.Accelerated, Brings: []string{Fabric}, Pod: footprint.Pod{
				Tolerations: gpuOnly, HostNetwork: true, PriorityClassName: "system-node-critical", Requests: List("cpu", "10m"),
				Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"p4d.24xlarge", "p5.48xlarge"}},
					}}},
				}}},
			},
		}}},
		{Name: Monitor, File: "footprints/" + Monitor + ".yaml", Workloads: []footprint.Workload{
			system("Deployment", "grafana", 2), system("StatefulSet", "prometheus", 1), system("Job", "certificates", 1),
			{Kind: scenario.DaemonSet, Name: "node-exporter", Namespace: "monitoring", Class: footprint.Any, Pod: footprint.Pod{
				NodeSelector: map[string]string{corev1.LabelOSStable: "linux"}, HostNetwork: true, HostPorts: []int32{9100},
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			}},
			{Kind: scenario.DaemonSet, Name: "csi-node", Namespace: "monitoring", Class: footprint.System},
		}},
	}
}

func system(kind, name string, replicas int32) footprint.Workload {
	return footprint.Workload{Kind: kind, Name: name, Namespace: "system", Class: footprint.System, Replicas: replicas, Pod: footprint.Pod{
		NodeSelector: map[string]string{NodeType: "system"}, Requests: List("cpu", "100m", "memory", "128Mi"),
	}}
}

func operand(name string, brings ...string) footprint.Workload {
	return footprint.Workload{Kind: scenario.DaemonSet, Name: name, Namespace: "gpu-operator", Class: footprint.Accelerated, CreatedBy: "ClusterPolicy", Brings: brings, Pod: footprint.Pod{
		NodeSelector: map[string]string{Deploy + name: "true"}, Tolerations: []corev1.Toleration{gpuTaint},
	}}
}

func discovering(w footprint.Workload) footprint.Workload {
	w.Discovers = true
	return w
}

// List are quantities by name, in turn.
func List(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}
