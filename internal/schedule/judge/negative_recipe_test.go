package judge_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

// recipeDefects are in overlays, values and footprints.
func recipeDefects() []broken {
	operands := []string{scenariotest.Operator + "/driver", scenariotest.Operator + "/device-plugin", scenariotest.Operator + "/gpu-feature-discovery", "probe/gang"}
	return []broken{
		{
			name: "the worker has lost its toleration", recipe: change("nfd-worker", func(w *footprint.Workload) { w.Pod.Tolerations = nil }),
			suspect: "node-feature-discovery/nfd-worker", says: `does not tolerate the taint nvidia.com/gpu=present:NoSchedule of GPU nodes gpu-0 to gpu-3.*this explains .*and 1 more`,
			remedy: "let it tolerate the taint.*footprints/node-feature-discovery.yaml", follows: append(operands, "gpu-operator/nvidia.com/gpu"), alone: true,
		},
		{
			name: "the worker chooses system nodes", recipe: change("nfd-worker", func(w *footprint.Workload) { w.Pod.NodeSelector = map[string]string{scenariotest.NodeType: "system"} }),
			suspect: "node-feature-discovery/nfd-worker", says: `does not select GPU nodes gpu-0 to gpu-3, where others wait for it: they do not match aicr.run/node-type=system \(value accelerated\)`,
			remedy: "select these nodes as well", follows: operands, alone: true,
		},
		{
			name: "the worker's selector has a typo", recipe: change("nfd-worker", func(w *footprint.Workload) { w.Pod.NodeSelector = map[string]string{"aicr.run/node-typ": "system"} }),
			suspect: "node-feature-discovery/nfd-worker", says: `selects no node of the recipe: .*aicr.run/node-typ=system \(no such label; similar: aicr.run/node-type\)`, follows: operands, alone: true,
		},
		{
			name: "no feature discovery", recipe: without(scenariotest.NFD),
			suspect: scenariotest.NFD, says: "is not in the recipe and would discover " + scenariotest.PCI, remedy: "add the component node-feature-discovery", follows: operands, alone: true,
		},
		{
			name: "feature discovery is off", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				c[0].Workloads = c[0].Workloads[:1]
				return c
			},
			suspect: scenariotest.NFD, says: "has no pod in this recipe that would discover " + scenariotest.PCI, remedy: "enable its discovery", follows: operands, alone: true,
		},
		{
			name: "an operand has lost its toleration", recipe: change("device-plugin", func(w *footprint.Workload) { w.Pod.Tolerations = nil }),
			suspect: "gpu-operator/device-plugin", says: "does not tolerate the taint nvidia.com/gpu=present:NoSchedule of GPU nodes gpu-0 to gpu-3", alone: true,
		},
		{
			name: "all operands have lost their toleration", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				for _, name := range []string{"driver", "device-plugin", "gpu-feature-discovery"} {
					workload(c, name).Pod.Tolerations = nil
				}
				return c
			},
			suspect: "gpu-operator/driver", says: "does not tolerate", follows: []string{"gpu-operator/nvidia.com/gpu"},
		},
		{
			name: "an operand tolerates another taint", recipe: change("driver", func(w *footprint.Workload) {
				w.Pod.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpus", Operator: corev1.TolerationOpExists}}
			}),
			suspect: "gpu-operator/driver", says: "does not tolerate the taint nvidia.com/gpu=present:NoSchedule",
		},
		{
			name: "an operand's selector has a typo", recipe: change("driver", func(w *footprint.Workload) {
				w.Pod.NodeSelector = map[string]string{scenariotest.Deploy + "drivr": "true"}
			}),
			suspect: "gpu-operator/driver", says: `selects no node of the recipe: GPU nodes do not match nvidia.com/gpu.deploy.drivr=true \(no such label; similar: nvidia.com/gpu.deploy.driver\)`, alone: true,
		},
		{
			name: "an operand's selector is of another value", recipe: change("efa", func(w *footprint.Workload) {
				w.Pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values = []string{"p4d.24xlarge"}
			}),
			suspect: "aws-efa-k8s-device-plugin/efa", says: `selects no node .*instance-type=p4d.24xlarge \(value p5.48xlarge\)`, follows: []string{"aws-efa-k8s-device-plugin/vpc.amazonaws.com/efa", "probe/gang"}, alone: true,
		},
		{
			name: "an operand without a selector", recipe: change("efa", func(w *footprint.Workload) { w.Pod.Affinity = nil }),
			suspect: "aws-efa-k8s-device-plugin/efa", says: "selects system nodes system-0, system-1, but its pods are of class accelerated", remedy: "let it select accelerated nodes only",
		},
		{
			name: "a selector that is too wide", recipe: change("driver", func(w *footprint.Workload) {
				w.Pod.NodeSelector = map[string]string{"topology.kubernetes.io/region": "us-east-2"}
			}),
			suspect: "gpu-operator/driver", says: "selects system nodes system-0, system-1", alone: true,
		},
		{
			name: "labels that are published for others", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				c[1].Publishes[0].OnNodesWith = map[string]string{"feature.node.kubernetes.io/pci-15b3.present": "true"}
				return c
			},
			suspect: scenariotest.Operator, says: "sets its labels on nodes with feature.node.kubernetes.io/pci-15b3.present=true, which no component sets on GPU nodes gpu-0 to gpu-3", follows: []string{"gpu-operator/driver", "probe/gang"}, alone: true,
		},
		{
			name: "no GPU operator", recipe: without(scenariotest.Operator),
			suspect: scenariotest.Operator, says: "is not in the recipe and would provide nvidia.com/gpu on GPU nodes gpu-0 to gpu-3", remedy: "add the component gpu-operator", follows: []string{"probe/gang"}, alone: true,
		},
		{
			name: "no operands", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				c[1].Workloads = c[1].Workloads[:1]
				return c
			},
			suspect: scenariotest.Operator, says: "has no DaemonSet in this recipe that provides nvidia.com/gpu on GPU nodes gpu-0 to gpu-3", remedy: "enable its device plugin", follows: []string{"gpu-operator/nvidia.com/gpu", "probe/gang"}, alone: true,
		},
		{
			name: "no device plugin", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				c[1].Workloads = slices.Delete(c[1].Workloads, 2, 3)
				return c
			},
			suspect: scenariotest.Operator, says: "has no DaemonSet in this recipe that provides nvidia.com/gpu", remedy: "enable its device plugin", follows: []string{"gpu-operator/nvidia.com/gpu", "probe/gang"}, alone: true,
		},
		{
			name: "a plugin that provides another resource", recipe: change("efa", func(w *footprint.Workload) { w.Brings = []string{"vpc.amazonaws.com/efas"} }),
			suspect: scenariotest.EFA, says: "has no DaemonSet in this recipe that provides vpc.amazonaws.com/efa ", remedy: "correct the resource name in the profile eks-p5", follows: []string{"aws-efa-k8s-device-plugin/vpc.amazonaws.com/efa", "probe/gang"}, alone: true,
		},
		{
			name: "a DaemonSet for any node that does not tolerate", recipe: change("node-exporter", func(w *footprint.Workload) { w.Pod.Tolerations = nil }),
			suspect: "monitoring/node-exporter", says: "does not tolerate the taint nvidia.com/gpu=present:NoSchedule of GPU nodes gpu-0 to gpu-3", alone: true,
		},
	}
}

// placementDefects put pods where they do not belong, or nowhere.
func placementDefects() []broken {
	tolerant := []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return []broken{
		{
			name: "a system pod that may go anywhere", recipe: change("grafana", func(w *footprint.Workload) { w.Pod.NodeSelector, w.Pod.Tolerations = nil, tolerant }),
			suspect: "monitoring/grafana", says: "can be scheduled on GPU nodes gpu-0 to gpu-3, but its pods are of class system", remedy: "let it select system nodes only", alone: true,
		},
		{
			name: "a system pod on GPU nodes", recipe: change("prometheus", func(w *footprint.Workload) {
				w.Pod.NodeSelector, w.Pod.Tolerations = map[string]string{scenariotest.NodeType: "accelerated"}, tolerant
			}),
			suspect: "monitoring/prometheus", says: "can be scheduled on GPU nodes", alone: true,
		},
		{
			name: "a system DaemonSet that tolerates the GPU taint", recipe: change("csi-node", func(w *footprint.Workload) { w.Pod.Tolerations = tolerant }),
			suspect: "monitoring/csi-node", says: "selects GPU nodes gpu-0 to gpu-3, but its pods are of class system", alone: true,
		},
		{
			name: "a selector that no node has", recipe: change("nfd-master", func(w *footprint.Workload) { w.Pod.NodeSelector = map[string]string{scenariotest.NodeType: "utility"} }),
			suspect: "node-feature-discovery/nfd-master", says: `fits no node of the recipe: system nodes do not match aicr.run/node-type=utility \(value system\)`, alone: true,
		},
		{
			name: "pods for GPU nodes that do not tolerate the taint", recipe: change("nfd-master", func(w *footprint.Workload) {
				w.Class, w.Pod.NodeSelector = footprint.Accelerated, map[string]string{scenariotest.NodeType: "accelerated"}
			}),
			suspect: "node-feature-discovery/nfd-master", says: "fits no node of the recipe: GPU nodes have the taint nvidia.com/gpu=present:NoSchedule", remedy: "let it tolerate the taint", alone: true,
		},
		{
			name: "requests that no node holds", recipe: change("prometheus", func(w *footprint.Workload) { w.Pod.Requests = scenariotest.List("cpu", "20") }),
			suspect: "monitoring/prometheus", says: `1 of 1 pods are Pending on system nodes system-0, system-1; scheduler: 2 Insufficient cpu, 4 node\(s\) had untolerated taint\(s\): a pod requests 20 cpu, the largest node has 15800m`,
			remedy: "lower the requests in the values of monitoring, or test on a larger node", alone: true,
		},
		{
			name: "more replicas than fit", recipe: change("grafana", func(w *footprint.Workload) { w.Replicas, w.Pod.Requests = 3, scenariotest.List("cpu", "10") }),
			suspect: "monitoring/grafana", says: "1 of 3 pods are Pending.*2 Insufficient cpu", alone: true,
		},
		{
			name: "a system pod that asks for a GPU", recipe: change("grafana", func(w *footprint.Workload) { w.Pod.Requests = scenariotest.List(scenariotest.Resource, "1") }),
			suspect: "monitoring/grafana", says: `fits no node of the recipe: system nodes never provide nvidia.com/gpu`, remedy: "remove the request", alone: true,
		},
		{
			name: "nodes of another architecture", recipe: nodes(func(n *nodeprofile.Nodes) { n.Accelerated.Arch = "arm64" }),
			suspect: "probe/gang", says: `fits no node of the recipe: GPU nodes do not match kubernetes.io/arch=amd64 \(value arm64\)`, remedy: "accelerators.yaml", follows: []string{"control/half-gpus", "control/half-gang"},
		},
		{
			name: "another product", recipe: nodes(func(n *nodeprofile.Nodes) { n.Products = []string{"NVIDIA-H200"} }),
			suspect: "probe/gang", says: `nvidia.com/gpu.product=NVIDIA-H200 \(value NVIDIA-H100-80GB-HBM3\)`,
		},
		{
			name: "a taint of the provider that work does not tolerate", recipe: nodes(func(n *nodeprofile.Nodes) {
				n.Accelerated.Taints = append(n.Accelerated.Taints, corev1.Taint{Key: "kubernetes.io/arch", Value: "arm64", Effect: corev1.TaintEffectNoSchedule})
			}),
			suspect: "profile eks-p5", says: `its nodes have the taint kubernetes.io/arch=arm64:NoSchedule: this rejects 5 workloads of 3 components; this explains .*`,
			remedy: "correct the profile eks-p5", follows: []string{"node-feature-discovery/nfd-worker", "aws-efa-k8s-device-plugin/efa", "gpu-operator/driver", "probe/gang", "control/half-gpus"}, alone: true,
		},
		{
			name: "a taint on system nodes", recipe: nodes(func(n *nodeprofile.Nodes) {
				n.System.Taints = []corev1.Taint{{Key: "dedicated", Value: "system", Effect: corev1.TaintEffectNoSchedule}}
			}),
			suspect: "profile eks-system", says: `its nodes have the taint dedicated=system:NoSchedule: this rejects 7 workloads of 3 components`,
			remedy: "correct the profile eks-system", follows: []string{"node-feature-discovery/nfd-master", "gpu-operator/gpu-operator", "monitoring/grafana"},
		},
		{
			name: "system nodes without their label", recipe: nodes(func(n *nodeprofile.Nodes) { n.System.Labels = map[string]string{"node-type": "system"} }),
			suspect: "profile eks-system", says: `its nodes do not match aicr.run/node-type=system \(no such label\)`,
			remedy: "correct the profile eks-system", follows: []string{"node-feature-discovery/nfd-master", "gpu-operator/gpu-operator", "monitoring/grafana"}, alone: true,
		},
		{
			name: "more GPUs than a node has", intent: "inference", scenario: func(c *scenario.Scenario) { c.Probe.Pod.Requests = scenariotest.List(scenariotest.Resource, "16") },
			suspect: "probe/replicas", says: `4 of 4 pods are Pending on GPU nodes gpu-0 to gpu-3; scheduler: .*4 Insufficient nvidia.com/gpu.*: a pod requests 16 nvidia.com/gpu, the largest node has 8`,
			remedy: "correct extendedResources of the profile eks-p5", alone: true,
		},
		{
			name: "a fabric of another name", scenario: func(c *scenario.Scenario) { c.Probe.Pod.Requests = scenariotest.List("rdma/hca", "1") },
			suspect: "probe/gang", says: "fits no node of the recipe: GPU nodes never provide rdma/hca", remedy: "accelerators.yaml", alone: true,
		},
		{
			name: "a probe larger than the nodes", scenario: func(c *scenario.Scenario) { c.Probe.Size = 5 },
			suspect: "probe/gang", says: "5 of 5 pods are Pending.*4 Insufficient nvidia.com/gpu",
		},
		{
			name: "another scheduler", recipe: change("grafana", func(w *footprint.Workload) {
				w.Pod.SchedulerName, w.Pod.NodeSelector = "kai-scheduler", map[string]string{scenariotest.NodeType: "none"}
			}),
			suspect: "monitoring/grafana", says: "fits no node of the recipe",
		},
		{
			name: "nothing to schedule", recipe: func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
				return []footprint.Component{{Name: "crds"}}
			},
			suspect: "components", says: "schedules no pods",
		},
	}
}
