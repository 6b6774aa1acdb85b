package judge_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

func pods(s *snapshot.State, workload string) []*snapshot.Pod {
	var out []*snapshot.Pod
	for i := range s.Pods {
		if s.Pods[i].Workload == workload {
			out = append(out, &s.Pods[i])
		}
	}
	return out
}

func account(s *snapshot.State, name string) *snapshot.Workload {
	return &s.Workloads[slices.IndexFunc(s.Workloads, func(w snapshot.Workload) bool { return w.Name == name })]
}

func pend(p *snapshot.Pod, message string) {
	p.Node, p.Phase, p.Reason, p.Message = "", "Pending", "Unschedulable", message
}

func drop(s *snapshot.State, workload string) {
	s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == workload })
}

// stateDefects are what a control plane may come to with a recipe that is right.
func stateDefects() []broken {
	return []broken{
		{name: "did not converge", state: func(s *snapshot.State) {
			s.Converged, s.NotConverged = false, "Deployment monitoring/grafana still makes pods"
		}, verdict: check.Unobserved, says: "did not converge: Deployment monitoring/grafana still makes pods"},
		{name: "did not converge, reason unknown", state: func(s *snapshot.State) { s.Converged = false }, verdict: check.Unobserved, says: "reason unknown"},
		{name: "nothing was observed, not converged", state: func(s *snapshot.State) { *s = snapshot.State{} }, verdict: check.Unobserved, says: "did not converge"},
		{name: "lists of different times", state: func(s *snapshot.State) { s.ResourceVersion = "" }, verdict: check.Unobserved, says: "has no resourceVersion"},
		{name: "of another recipe", state: func(s *snapshot.State) { s.Recipe = "b200-gke" }, suspect: "state", says: "of recipe b200-gke, want h100-eks"},
		{name: "no nodes", state: func(s *snapshot.State) { s.Nodes = nil }, suspect: "nodes", says: "no node was observed"},
		{name: "no pods", state: func(s *snapshot.State) { s.Pods = nil }, suspect: "workloads", says: "0 pods were observed"},
		{name: "no workloads", state: func(s *snapshot.State) { s.Workloads = nil }, suspect: "workloads", says: "0 workloads"},
		{name: "a quota", state: func(s *snapshot.State) {
			account(s, "grafana").Trouble = "exceeded quota: gke-critical-pods"
			drop(s, "grafana")
		}, suspect: "monitoring/grafana", says: "cannot create pods: exceeded quota: gke-critical-pods", alone: true},
		{name: "a quota at the root", state: func(s *snapshot.State) {
			account(s, "nfd-worker").Trouble = "exceeded quota"
			for _, name := range []string{"nfd-worker", "driver", "device-plugin", "gpu-feature-discovery"} {
				drop(s, name)
				account(s, name).Desired, account(s, name).Made = 0, 0
			}
			for i := range s.Nodes[:6] {
				for k := range s.Nodes[i].Labels {
					if k == scenariotest.PCI || k == scenario.ProductLabel || len(k) > len(scenariotest.Deploy) && k[:len(scenariotest.Deploy)] == scenariotest.Deploy {
						delete(s.Nodes[i].Labels, k)
					}
				}
				delete(s.Nodes[i].Allocatable, scenariotest.Resource)
			}
		}, suspect: "node-feature-discovery/nfd-worker", says: "exceeded quota; this explains", follows: []string{"gpu-operator/driver", "gpu-operator/nvidia.com/gpu"}},
		{name: "a workload is missing", state: func(s *snapshot.State) {
			s.Workloads = slices.DeleteFunc(s.Workloads, func(w snapshot.Workload) bool { return w.Name == "efa" })
			drop(s, "efa")
		}, suspect: "aws-efa-k8s-device-plugin/efa", says: "not found, although a DaemonSet of this name was created", alone: true},
		{name: "a pod is missing", state: func(s *snapshot.State) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == "efa" && p.Node == "gpu-2" })
			account(s, "efa").Desired, account(s, "efa").Made = 3, 3
		}, suspect: "aws-efa-k8s-device-plugin/efa", says: "created no pod for GPU node gpu-2", alone: true},
		{name: "a replica is missing", state: func(s *snapshot.State) {
			s.Pods = slices.Delete(s.Pods, slices.IndexFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == "grafana" }), 1+slices.IndexFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == "grafana" }))
			account(s, "grafana").Desired, account(s, "grafana").Made = 1, 1
		}, suspect: "monitoring/grafana", says: "has 1 pods, want 2", alone: true},
		{name: "a DaemonSet's pod waits", state: func(s *snapshot.State) {
			pend(pods(s, "node-exporter")[3], "0/1009 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1008 node(s) didn't satisfy plugin(s) [NodeAffinity].")
		}, suspect: "monitoring/node-exporter", says: `1 of 6 pods are Pending on .*; scheduler: 1 node\(s\) didn't have free ports for the requested pod ports$`, alone: true},
		{name: "a pod that is never scheduled", state: func(s *snapshot.State) {
			pend(pods(s, "prometheus")[0], "")
		}, suspect: "monitoring/prometheus", says: "1 of 1 pods are Pending, and the scheduler has reported no reason", alone: true},
		{name: "a refusal that is not understood", state: func(s *snapshot.State) {
			pend(pods(s, "prometheus")[0], "running PreBind plugin: no volume")
		}, suspect: "monitoring/prometheus", says: "scheduler: running PreBind plugin: no volume", alone: true},
		{name: "a pod failed", state: func(s *snapshot.State) { pods(s, "certificates")[0].Phase = "Failed" }, suspect: "monitoring/certificates", says: "is Failed", alone: true},
		{name: "a pod failed before it was bound", state: func(s *snapshot.State) {
			pend(pods(s, "certificates")[0], "x")
			pods(s, "certificates")[0].Phase = "Failed"
		}, suspect: "monitoring/certificates", says: "."},
		{name: "a pod came to its end", state: func(s *snapshot.State) { pods(s, "prometheus")[0].Phase = "Succeeded" }, suspect: "monitoring/prometheus", says: "is Succeeded", alone: true},
		{name: "a DaemonSet's pod failed", state: func(s *snapshot.State) { pods(s, "efa")[0].Phase = "Failed" }, suspect: "aws-efa-k8s-device-plugin/efa", says: "on gpu-0 is Failed", alone: true},
		{name: "a system pod was put on a GPU node", state: func(s *snapshot.State) { pods(s, "prometheus")[0].Node = "gpu-1" }, suspect: "monitoring/prometheus", says: "can be scheduled on GPU node gpu-1, but its pods are of class system", alone: true},
		{name: "a pod on a control's node", state: func(s *snapshot.State) { pods(s, "node-exporter")[0].Node = "half-gpus-0" }, suspect: "monitoring/node-exporter", says: "half-gpus-0, which is for the control half-gpus|created no pod for system node system-0"},
		{name: "a pod elsewhere", state: func(s *snapshot.State) { pods(s, "prometheus")[0].Node = "c018-system-0" }, suspect: "monitoring/prometheus", says: "on c018-system-0, which is not a node of the recipe", alone: true},
		{name: "two pods on one node", state: func(s *snapshot.State) { pods(s, "efa")[1].Node = "gpu-0" }, suspect: "aws-efa-k8s-device-plugin/efa", says: "2 pods on GPU node gpu-0|created no pod for GPU node gpu-1"},
		{name: "the probe off GPU nodes", state: func(s *snapshot.State) { pods(s, "probe")[0].Node = "system-0" }, suspect: "probe/gang", says: "system-0", alone: true},
		{name: "a stranger", state: func(s *snapshot.State) {
			s.Pods = append(s.Pods, snapshot.Pod{Component: scenariotest.Operator, Workload: "mig-manager", Kind: "DaemonSet", Name: "mig-x", Node: "gpu-0", Phase: "Pending"})
		}, suspect: "gpu-operator/mig-manager", says: "the pod mig-x exists and is not part of the recipe", alone: true},
		{name: "a workload that is a stranger", state: func(s *snapshot.State) {
			s.Workloads = append(s.Workloads, snapshot.Workload{Component: scenariotest.Monitor, Kind: "Deployment", Name: "loki"})
		}, suspect: "monitoring/loki", says: "the Deployment loki exists", alone: true},
		{name: "a gang bound in part", state: func(s *snapshot.State) {
			pend(pods(s, "probe")[3], "0/1009 nodes are available: 1003 node(s) didn't satisfy plugin(s) [NodeAffinity], 2 node(s) had untolerated taint(s), 4 Insufficient nvidia.com/gpu.")
		}, suspect: "probe/gang", says: "1 of 4 pods are Pending|bound in part: 3 of 4 pods"},
		{name: "a gang that is not scheduled", state: func(s *snapshot.State) { s.Gangs[0].Scheduled, s.Gangs[0].Message = "Unknown", "" }, suspect: "probe/gang", says: "its pod group reports scheduled Unknown", alone: true},
		{name: "no gang", state: func(s *snapshot.State) { s.Gangs = s.Gangs[1:] }, suspect: "probe/gang", says: "its pods have 0 pod groups", alone: true},
		{name: "an unexpected gang", intent: "inference", state: func(s *snapshot.State) {
			s.Gangs = []snapshot.Gang{{Owner: snapshot.OwnerProbe, Name: "probe", Scheduled: "True"}}
		}, suspect: "probe/probe", says: "the pod group probe exists", alone: true},
		{name: "devices did not appear", state: func(s *snapshot.State) { delete(s.Nodes[2].Allocatable, scenariotest.Fabric) }, suspect: "aws-efa-k8s-device-plugin/efa", says: "runs on GPU node gpu-0, but vpc.amazonaws.com/efa has not appeared there", follows: []string{"aws-efa-k8s-device-plugin/vpc.amazonaws.com/efa"}, alone: true},
		{name: "fewer devices", state: func(s *snapshot.State) {
			s.Nodes[3].Allocatable[scenariotest.Resource] = scenariotest.List("x", "7")["x"]
		}, suspect: "node gpu-1", says: "has 7 nvidia.com/gpu, want 8", alone: true},
		{name: "a label did not appear", state: func(s *snapshot.State) { delete(s.Nodes[2].Labels, scenario.ProductLabel) }, suspect: "gpu-operator/gpu-feature-discovery", says: "runs on GPU node gpu-0, but nvidia.com/gpu.product has not appeared", alone: true},
		{name: "a published label did not appear", state: func(s *snapshot.State) { delete(s.Nodes[2].Labels, scenariotest.Deploy+"driver") }, suspect: scenariotest.Operator, says: "has not set nvidia.com/gpu.deploy.driver on GPU node gpu-0", alone: true},
		{name: "a node is not Ready", state: func(s *snapshot.State) { s.Nodes[1].Ready = false }, suspect: "node system-1", says: "is not Ready", alone: true},
		{name: "a node is missing", state: func(s *snapshot.State) { s.Nodes = slices.Delete(s.Nodes, 1, 2) }, suspect: "node system-1", says: "^not found", alone: true},
		{name: "a node too many", state: func(s *snapshot.State) { s.Nodes = append(s.Nodes, snapshot.Node{Name: "gpu-4", Ready: true}) }, suspect: "node gpu-4", says: "is not a node of the recipe", alone: true},
		{name: "a taint that the profile has not", state: func(s *snapshot.State) {
			s.Nodes[0].Taints = []corev1.Taint{{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute}}
		}, suspect: "node system-0", says: "has the taints node.kubernetes.io/unreachable:NoExecute, want none", alone: true},
		{name: "another label than the profile's", state: func(s *snapshot.State) { s.Nodes[0].Labels[scenariotest.NodeType] = "accelerated" }, suspect: "node system-0", says: `has aicr.run/node-type="accelerated", want "system"`, alone: true},
		{name: "other cores than the profile's", state: func(s *snapshot.State) { s.Nodes[0].Allocatable["cpu"] = scenariotest.List("x", "4")["x"] }, suspect: "node system-0", says: "has 4 cpu, want 15800m", alone: true},
		{name: "a generation that was not observed", state: func(s *snapshot.State) { account(s, "grafana").Generation = 2 }, verdict: check.Unobserved, says: "the controller of monitoring/grafana has observed generation 1 of 2"},
		{name: "a controller that counts otherwise", state: func(s *snapshot.State) { account(s, "grafana").Desired = 5 }, verdict: check.Unobserved, says: "wants 5 pods and counts 2"},
		{name: "a controller that has not seen a pod", state: func(s *snapshot.State) { account(s, "grafana").Made-- }, verdict: check.Unobserved, says: "wants 2 pods and counts 1, observed 2"},
	}
}

// controlDefects are controls that do not fail as they must.
func controlDefects() []broken {
	bind := func(control, node string) func(*snapshot.State) {
		return func(s *snapshot.State) {
			p := pods(s, control)[0]
			p.Node, p.Reason, p.Message = node, "", ""
		}
	}
	refuse := func(control, message string) func(*snapshot.State) {
		return func(s *snapshot.State) { pods(s, control)[0].Message = message }
	}
	return []broken{
		{name: "drop-toleration passed", state: bind(scenario.DropToleration, "gpu-0"), suspect: "control/drop-toleration", says: "passed: its pod was bound to gpu-0: the test would not detect pods that do not tolerate the GPU taint", alone: true},
		{name: "half-gpus passed", state: bind(scenario.HalfGPUs, "half-gpus-0"), suspect: "control/half-gpus", says: "would not detect nodes with too few GPUs", alone: true},
		{name: "wrong-arch passed", state: bind(scenario.WrongArch, "wrong-arch-0"), suspect: "control/wrong-arch", says: "would not detect nodes of another architecture", alone: true},
		{name: "half-gang was bound in part", state: bind(scenario.HalfGang, "half-gang-0"), suspect: "control/half-gang", says: "would not detect a gang that is bound in part", alone: true},
		{name: "drop-selector passed", state: func(s *snapshot.State) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == scenario.DropSelector && p.Node[0] == 's' })
		}, suspect: "control/drop-selector", says: "passed: aws-efa-k8s-device-plugin/efa without its selector ran on no wrong node: the test would not detect a DaemonSet without its selector", alone: true},
		{name: "drop-selector elsewhere", state: func(s *snapshot.State) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.Workload == scenario.DropSelector && p.Node == "gpu-0" })
		}, suspect: "control/drop-selector", says: "ran on system node system-0, want system node system-0 and GPU node gpu-0", alone: true},
		{name: "drop-selector waits", state: func(s *snapshot.State) {
			pend(pods(s, scenario.DropSelector)[0], "0/1009 nodes are available: 1 Insufficient cpu.")
		}, suspect: "control/drop-selector", says: "for another reason: its pod .* is Pending: 1 Insufficient cpu", alone: true},
		{name: "another reason", state: refuse(scenario.HalfGPUs, "0/1009 nodes are available: 1 Insufficient cpu, 1008 node(s) didn't satisfy plugin(s) [NodeAffinity]."), suspect: "control/half-gpus", says: `failed for another reason: 1 Insufficient cpu, want 1 "Insufficient nvidia.com/gpu"`, alone: true},
		{name: "two reasons", state: refuse(scenario.HalfGPUs, "0/1009 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu, 1008 node(s) didn't satisfy plugin(s) [NodeAffinity]."), suspect: "control/half-gpus", says: "failed for another reason: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu", alone: true},
		{name: "fewer nodes", state: refuse(scenario.DropToleration, "0/1009 nodes are available: 3 node(s) had untolerated taint(s), 1006 node(s) didn't satisfy plugin(s) [NodeAffinity]."), suspect: "control/drop-toleration", says: `3 node\(s\) had untolerated taint\(s\), want 4`, alone: true},
		{name: "an older scheduler's words", state: refuse(scenario.DropToleration, "0/1009 nodes are available: 4 node(s) had untolerated taint {nvidia.com/gpu: present}, 1005 node(s) didn't satisfy plugin(s) [NodeAffinity]."), verdict: check.Passed, says: "5 controls failed as required"},
		{name: "a gang's words", state: refuse(scenario.HalfGPUs, "waiting for minCount pods from a gang to be scheduled"), suspect: "control/half-gpus", says: "failed for another reason: waiting for minCount pods from a gang", alone: true},
		{name: "another reason of one pod of a gang", state: func(s *snapshot.State) {
			pods(s, scenario.HalfGang)[1].Message = "0/1009 nodes are available: 1 Insufficient cpu, 1008 node(s) didn't satisfy plugin(s) [NodeAffinity]."
		}, suspect: "control/half-gang", says: "failed for another reason: 1 Insufficient cpu", alone: true},
		{name: "drop-selector that selects", scenario: func(c *scenario.Scenario) {
			i := slices.IndexFunc(c.Controls, func(c scenario.Control) bool { return c.Name == scenario.DropSelector })
			c.Controls[i].Workload.Pod.NodeSelector = map[string]string{scenariotest.NodeType: "system"}
		}, verdict: check.Passed, says: "5 controls failed as required"},
		{name: "no words", state: refuse(scenario.WrongArch, ""), suspect: "control/wrong-arch", says: "the scheduler has reported nothing", alone: true},
		{name: "half-gang refused for nothing", state: func(s *snapshot.State) {
			for _, p := range pods(s, scenario.HalfGang) {
				p.Message = "waiting for minCount pods from a gang to be scheduled"
			}
		}, suspect: "control/half-gang", says: "none of its pods was rejected for", alone: true},
		{name: "half-gang's group is scheduled", state: func(s *snapshot.State) { s.Gangs[1].Scheduled = "True" }, suspect: "control/half-gang", says: "its pod group reports scheduled True", alone: true},
		{name: "half-gang has no group", state: func(s *snapshot.State) { s.Gangs = s.Gangs[:1] }, suspect: "control/half-gang", says: "it has 0 pod groups", alone: true},
		{name: "a control was not run", state: func(s *snapshot.State) { drop(s, scenario.WrongArch) }, suspect: "control/wrong-arch", says: "was not run: 0 of 1 pods exist", alone: true},
		{name: "a control in trouble", state: func(s *snapshot.State) { account(s, scenario.HalfGPUs).Trouble = "exceeded quota" }, suspect: "control/half-gpus", says: "was not run: its controller cannot create pods: exceeded quota", alone: true},
		{name: "a control that does not apply was run", scenario: func(c *scenario.Scenario) { c.Controls[3].NotApplicable = "" }, state: func(s *snapshot.State) { drop(s, scenario.WrongArch) }, suspect: "control/wrong-arch", says: "was not run", alone: true},
		{name: "a twin with all GPUs", scenario: func(c *scenario.Scenario) {
			c.Nodes[6].Allocatable[scenariotest.Resource] = scenariotest.List("x", "8")["x"]
		}, suspect: "control/half-gpus", says: "passed: its pod was bound to half-gpus-0", alone: true},
	}
}
