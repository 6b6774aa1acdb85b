package preflight

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// machines are two usable nodes and the demand of one gate for both.
func machines() (nodeFacts, nodeDemand) {
	one := func(name string) corev1.Node {
		list := corev1.ResourceList{kube.GPUResource: resource.MustParse("8"), "rdma/ib": resource.MustParse("8")}
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: kube.GPUResource, Value: "present", Effect: corev1.TaintEffectNoSchedule}}},
			Status:     corev1.NodeStatus{Allocatable: list, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	rendered := pods("telemetry")
	free := kube.Usage{Allocatable: 8}
	return nodeFacts{nodes: []corev1.Node{one("a"), one("b"), one("system")}, usage: map[string]kube.Usage{"a": free, "b": free}},
		nodeDemand{names: []string{"a", "b"}, gpus: map[string]int{"a": 8, "b": 8}, ports: 8, networkResource: "rdma/ib", every: true, workloads: []workload.Spec{rendered[0].spec}, tolerations: tolerations(rendered)}
}

// byClaims makes the GPUs those of ResourceSlices; the nodes have no resource of a device plugin.
func byClaims(f *nodeFacts, a, b int) {
	f.class, f.offered = "gpu.nvidia.com", map[string]int{"a": a, "b": b}
	for i := range f.nodes {
		delete(f.nodes[i].Status.Allocatable, kube.GPUResource)
	}
}

// partition makes the GPUs 56 MIG devices of a profile a node, under the given resource, as the site declares.
func partition(f *nodeFacts, d *nodeDemand, strategy, of, name string) {
	d.mig = &site.MIG{Strategy: strategy, Devices: map[string]int{of: 56}}
	d.workloads[0].GPUs, d.workloads[0].GPUResource = 56, name
	for i := range f.nodes {
		list := f.nodes[i].Status.Allocatable
		list[kube.GPUResource] = resource.MustParse("0")
		list[corev1.ResourceName(name)] = resource.MustParse("56")
		f.nodes[i].Status.Capacity = list
		f.nodes[i].Labels = map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-" + of}
		f.usage[f.nodes[i].Name] = kube.Usage{Allocatable: 56}
	}
}

func TestJudgeNodes(t *testing.T) {
	t.Parallel()
	gone := func(f *nodeFacts, name string) { f.usage[name] = kube.Usage{} }
	held := kube.Usage{Allocatable: 8, Requested: 3, Holders: []kube.Holder{{Namespace: "team", Pod: "train-0", Count: 3}}}
	for name, tt := range map[string]struct {
		spoil func(f *nodeFacts, d *nodeDemand)
		want  []string
	}{
		"healthy": {func(*nodeFacts, *nodeDemand) {}, nil},
		"unread":  {func(f *nodeFacts, _ *nodeDemand) { f.err = errors.New("down") }, []string{"unobserved node inventory: down"}},
		"missing": {func(f *nodeFacts, _ *nodeDemand) { f.nodes = f.nodes[1:]; gone(f, "a") }, []string{"would-stop node a: not in the cluster"}},
		"not Ready": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[1].Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}
			gone(f, "b")
		}, []string{"would-stop node b: is not Ready: NodeStatusUnknown"}},
		"never Ready": {func(f *nodeFacts, _ *nodeDemand) { f.nodes[1].Status.Conditions = nil; gone(f, "b") }, []string{"would-stop node b: never reported"}},
		"cordoned":    {func(f *nodeFacts, _ *nodeDemand) { f.nodes[1].Spec.Unschedulable = true; gone(f, "b") }, []string{"would-stop node b: is cordoned"}},
		"taint": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Spec.Taints = append(f.nodes[0].Spec.Taints, corev1.Taint{Key: "team", Effect: corev1.TaintEffectNoExecute})
		}, []string{"would-stop node a: has the taint team:NoExecute"}},
		"a preference": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Spec.Taints = append(f.nodes[0].Spec.Taints, corev1.Taint{Key: "team", Effect: corev1.TaintEffectPreferNoSchedule})
		}, nil},
		"fewer GPUs": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Status.Allocatable[kube.GPUResource] = resource.MustParse("7")
		}, []string{"would-stop node a: has 7 of nvidia.com/gpu allocatable, want 8"}},
		"more GPUs": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Status.Allocatable[kube.GPUResource] = resource.MustParse("9")
		}, []string{"would-stop node a: has 9"}},
		"no RDMA": {func(f *nodeFacts, _ *nodeDemand) { delete(f.nodes[0].Status.Allocatable, "rdma/ib") }, []string{"would-stop node a: has 0 of rdma/ib allocatable, want 8"}},
		"RDMA not needed": {func(f *nodeFacts, d *nodeDemand) {
			delete(f.nodes[0].Status.Allocatable, "rdma/ib")
			d.networkResource, d.ports = "", 0
		}, nil},
		"held": {func(f *nodeFacts, _ *nodeDemand) { f.usage["b"] = held }, []string{"would-stop GPUs b: 5 of 8 are free: pod team/train-0 holds 3; needed by telemetry"}},
		"held, few needed": {func(f *nodeFacts, d *nodeDemand) {
			f.usage["b"] = held
			d.workloads[0].Pods, d.workloads[0].GPUs = 1, 8
		}, nil},
		"cordoned, few needed": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.workloads[0].Pods, d.every = 1, false
		}, nil},
		"cordoned, few needed, every": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.workloads[0].Pods = 1
		}, []string{"would-stop node b: is cordoned"}},
		"cordoned, needed": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.every = false
		}, []string{"would-stop node b: is cordoned"}},
		"claims":             {func(f *nodeFacts, _ *nodeDemand) { byClaims(f, 8, 8) }, nil},
		"claims, fewer GPUs": {func(f *nodeFacts, _ *nodeDemand) { byClaims(f, 8, 7) }, []string{"would-stop node b: has 7 GPUs in ResourceSlices of gpu.nvidia.com, want 8"}},
		"claims, held": {func(f *nodeFacts, _ *nodeDemand) {
			byClaims(f, 8, 8)
			f.usage["a"] = kube.Usage{Allocatable: 8, Requested: 1, Holders: []kube.Holder{{Pod: "claim team/train"}, {Namespace: "team", Pod: "train-0", Count: 1}}}
		}, []string{"would-stop GPUs a: 7 of 8 are free: claim team/train holds some, pod team/train-0 holds 1; needed by telemetry"}},
		// 2 GPUs of 4 replicas each; labels of GPU feature discovery (NVIDIA/cloud-native-docs, gpu-sharing).
		"shared GPUs": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Labels = map[string]string{"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}
			f.nodes[0].Status.Capacity = f.nodes[0].Status.Allocatable
		}, []string{"would-stop node a: its GPUs are divided: label nvidia.com/gpu.replicas is 4; it offers 8 of nvidia.com/gpu, label nvidia.com/gpu.count is 2"}},
		"MIG that is not declared": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Labels = map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-7g.80gb"}
		}, []string{"would-stop node a: its GPUs are divided: label nvidia.com/gpu.product"}},
		"MIG, strategy single": {func(f *nodeFacts, d *nodeDemand) { partition(f, d, site.MIGSingle, "1g.10gb", "nvidia.com/gpu") }, nil},
		"MIG, strategy mixed":  {func(f *nodeFacts, d *nodeDemand) { partition(f, d, site.MIGMixed, "1g.10gb", "nvidia.com/mig-1g.10gb") }, nil},
		"MIG, devices are short": {func(f *nodeFacts, d *nodeDemand) {
			partition(f, d, site.MIGMixed, "1g.10gb", "nvidia.com/mig-1g.10gb")
			f.nodes[0].Status.Allocatable["nvidia.com/mig-1g.10gb"] = resource.MustParse("49")
		}, []string{"would-stop node a: has 49 of nvidia.com/mig-1g.10gb allocatable, want 56"}},
		"MIG, GPUs are whole": {func(f *nodeFacts, d *nodeDemand) {
			d.mig = &site.MIG{Strategy: site.MIGMixed, Devices: map[string]int{"1g.10gb": 56}}
		},
			[]string{"would-stop node a: has 8 of nvidia.com/gpu allocatable, want 0", "would-stop node b: has 8 of nvidia.com/gpu allocatable, want 0"}},
		"MIG, devices are shared": {func(f *nodeFacts, d *nodeDemand) {
			partition(f, d, site.MIGMixed, "1g.10gb", "nvidia.com/mig-1g.10gb")
			f.nodes[0].Labels["nvidia.com/mig-1g.10gb.replicas"] = "2"
		}, []string{"would-stop node a: its GPUs are divided: label nvidia.com/mig-1g.10gb.replicas is 2"}},
		// Conditions and labels of nodes that stay Ready, as gate gpustack reads them.
		"a monitor's defect": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Status.Conditions = append(f.nodes[0].Status.Conditions, corev1.NodeCondition{Type: "AcceleratedHardwareReady", Status: corev1.ConditionFalse, Reason: "NvidiaXID79Error", Message: "GPU has fallen off the bus"})
		}, []string{"would-stop node a: has condition AcceleratedHardwareReady (False, NvidiaXID79Error: GPU has fallen off the bus)"}},
		"a monitor's defect, no gate of it": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[0].Status.Conditions = append(f.nodes[0].Status.Conditions, corev1.NodeCondition{Type: "AcceleratedHardwareReady", Status: corev1.ConditionFalse})
			d.every = false
		}, nil},
		"a driver to be upgraded": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Labels = map[string]string{"nvidia.com/gpu-driver-upgrade-state": "upgrade-required"}
		}, []string{"would-stop node a: the upgrade of its driver is in state upgrade-required"}},
		"too large for the site": {func(_ *nodeFacts, d *nodeDemand) { d.workloads[0].Pods = 3 }, []string{"would-stop GPUs inventory: too few for telemetry"}},
	} {
		f, d := machines()
		tt.spoil(&f, &d)
		require(t, name, judgeNodes(f, d), tt.want...)
	}
}
