package gpustack

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// realNode is a Ready node as the API has it, with 8 GPUs and 8 ports.
func realNode(name string, spoil func(*corev1.Node)) *corev1.Node {
	list := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8"), "rdma/ib": resource.MustParse("8")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}, Labels: map[string]string{"nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.replicas": "1"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}},
		Status:     corev1.NodeStatus{Capacity: list, Allocatable: list.DeepCopy(), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	spoil(n)
	return n
}

func condition(kind string, status corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Status: status, Reason: "Because", Message: "of it"})
	}
}

// because replaces the reason of the condition that set adds.
func because(reason string, set func(*corev1.Node)) func(*corev1.Node) {
	return func(n *corev1.Node) {
		set(n)
		n.Status.Conditions[len(n.Status.Conditions)-1].Reason = reason
	}
}

func label(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}

func taint(key string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
	}
}

// The preflight lists what the gate would find: conditions in the order of their names, then the driver's upgrade.
func TestDefects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*corev1.Node)
		want  []string
	}{
		"healthy":                {func(*corev1.Node) {}, nil},
		"upgraded":               {label("nvidia.com/gpu-driver-upgrade-state", "upgrade-done"), nil},
		"upgrade fails":          {label("nvidia.com/gpu-driver-upgrade-state", "upgrade-failed"), []string{"the upgrade of its driver is in state upgrade-failed (label nvidia.com/gpu-driver-upgrade-state)"}},
		"a monitor without data": {condition("GpuDcgmConnectivityFailure", "True"), []string{"has condition GpuDcgmConnectivityFailure (True, Because: of it)"}},
		"condition of a program that is not a monitor": {condition("Example", "True"), nil},
		"all": {func(n *corev1.Node) {
			condition("XIDErrors", "True")(n)
			condition("KernelDeadlock", "True")(n)
			label("nvidia.com/gpu-driver-upgrade-state", "upgrade-required")(n)
		}, []string{
			"has condition KernelDeadlock (True, Because: of it)", "has condition XIDErrors (True, Because: of it)",
			"the upgrade of its driver is in state upgrade-required (label nvidia.com/gpu-driver-upgrade-state)",
		}},
	} {
		got, observed := Defects(realNode("gpu-01", tt.spoil))
		if !slices.Equal(got, tt.want) || observed == (name == "a monitor without data") {
			t.Errorf("%s: %q, observed %v, want %q", name, got, observed, tt.want)
		}
	}
}

// A node that offers the right number of resources is judged by what else it shows: divided GPUs, the driver's
// upgrade, what the cloud's own monitor found, taints.
func TestRealNodes(t *testing.T) {
	t.Parallel()
	const pass, fail, unseen = check.Passed, check.Failed, check.Unobserved
	for name, tt := range map[string]struct {
		spoil   func(*corev1.Node)
		verdict check.Verdict
		message string
	}{
		"healthy": {func(*corev1.Node) {}, pass, ""},
		// 2 GPUs of 4 replicas each: NVIDIA/cloud-native-docs, gpu-sharing.
		"time slicing": {func(n *corev1.Node) { n.Labels["nvidia.com/gpu.count"], n.Labels["nvidia.com/gpu.replicas"] = "2", "4" }, fail, "its GPUs are divided: label nvidia.com/gpu.replicas is 4"},
		"MPS":          {label("nvidia.com/gpu.sharing-strategy", "mps"), fail, "its GPUs are divided: label nvidia.com/gpu.sharing-strategy is mps"},
		// The profile all-7g.80gb: one MIG device a GPU.
		"MIG devices under nvidia.com/gpu": {label("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-MIG-7g.80gb"), fail, "its GPUs are divided: label nvidia.com/gpu.product"},
		"GKE, time sharing":                {label("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"), fail, "its GPUs are divided: label cloud.google.com/gke-gpu-sharing-strategy"},
		"HAMi":                             {func(n *corev1.Node) { n.Annotations["hami.io/node-nvidia-register"] = `[{"id":"GPU-a","count":8}]` }, fail, "its GPUs are divided: annotation hami.io"},
		"also shared GPUs": {func(n *corev1.Node) {
			n.Status.Capacity["nvidia.com/gpu.shared"] = resource.MustParse("16")
		}, fail, "its GPUs are divided: it offers nvidia.com/gpu.shared"},
		// NVIDIA/gpu-operator, issues 2509 (for weeks) and 2549; the states are those of gpu-driver-upgrades.
		"driver not upgraded":    {label("nvidia.com/gpu-driver-upgrade-state", "upgrade-required"), fail, "the upgrade of its driver is in state upgrade-required"},
		"driver upgrade failed":  {label("nvidia.com/gpu-driver-upgrade-state", "upgrade-failed"), fail, "the upgrade of its driver is in state upgrade-failed"},
		"a state to come":        {label("nvidia.com/gpu-driver-upgrade-state", "node-maintenance-required"), fail, "node-maintenance-required"},
		"driver upgraded":        {label("nvidia.com/gpu-driver-upgrade-state", "upgrade-done"), pass, ""},
		"upgrades not processed": {label("nvidia.com/gpu-driver-upgrade-state", ""), pass, ""},
		// aws/eks-node-monitoring-agent; kubernetes-sigs/karpenter repairs nodes by the same conditions.
		"EKS, GPU broken":    {condition("AcceleratedHardwareReady", "False"), fail, "has condition AcceleratedHardwareReady (False, Because: of it)"},
		"EKS, GPU healthy":   {condition("AcceleratedHardwareReady", "True"), pass, ""},
		"EKS, GPU not known": {condition("AcceleratedHardwareReady", "Unknown"), unseen, "AcceleratedHardwareReady"},
		// No connection to DCGM (aws/eks-node-monitoring-agent, issue 266) says nothing about the GPUs: it failed a healthy cluster.
		"EKS, no connection to DCGM":        {because("DCGMError", condition("AcceleratedHardwareReady", "False")), unseen, "AcceleratedHardwareReady is False (DCGMError: of it): the monitor has no data"},
		"EKS, DCGM found a defect":          {because("DCGMHealthCode10", condition("AcceleratedHardwareReady", "False")), fail, "has condition AcceleratedHardwareReady (False, DCGMHealthCode10: of it)"},
		"NVSentinel, no connection to DCGM": {condition("GpuDcgmConnectivityFailure", "True"), unseen, "GpuDcgmConnectivityFailure is True"},
		"NVSentinel, connected to DCGM":     {condition("GpuDcgmConnectivityFailure", "False"), pass, ""},
		"AKS, GPU missing":                  {condition("GPUMissing", "True"), fail, "has condition GPUMissing"},
		"AKS, GPUs there":                   {condition("GPUMissing", "False"), pass, ""},
		"AKS, NVLink":                       {condition("NVLinkStatusInactive", "True"), fail, "NVLinkStatusInactive"},
		// The conditions of AKS' nodes in 2026, and of Microsoft's collector of metrics next to the detector.
		"AKS, Xid":                  {condition("XIDError", "True"), fail, "has condition XIDError (True, Because: of it)"},
		"AKS, no Xid":               {condition("XIDError", "False"), pass, ""},
		"AKS collector, Xid":        {condition("XIDError79", "True"), fail, "XIDError79"},
		"AKS collector, ECC":        {condition("GPUECCDoubleVolatile", "True"), fail, "GPUECCDoubleVolatile"},
		"AKS collector, NVLink":     {condition("GPUNVLinkReplayErrors", "True"), fail, "GPUNVLinkReplayErrors"},
		"AKS collector, InfiniBand": {condition("IBLinkDown", "True"), fail, "IBLinkDown"},
		"AKS collector, power":      {condition("GPUPowerViolation", "True"), pass, ""},
		"OKE, rows":                 {condition("GPURowRemap", "True"), fail, "GPURowRemap"},
		"ACK, Xid":                  {condition("NvidiaXID79Error", "True"), fail, "NvidiaXID79Error"},
		"ACK, row remapping":        {condition("NvidiaRemappingRowsFailed", "True"), fail, "NvidiaRemappingRowsFailed"},
		"ACK, no Xid":               {condition("NvidiaXID79Error", "False"), pass, ""},
		"TKE, Xid":                  {condition("GPUXIDFatalError", "True"), fail, "has condition GPUXIDFatalError"},
		"TKE, NVLink":               {condition("GPUNvlinkError", "True"), fail, "has condition GPUNvlinkError"},
		"TKE, device lost":          {condition("GPUDeviceLost", "True"), fail, "has condition GPUDeviceLost"},
		"TKE, healthy":              {condition("GPUXIDFatalError", "False"), pass, ""},
		"NVSentinel, memory":        {condition("GpuMemWatch", "True"), fail, "GpuMemWatch"},
		"NVSentinel, healthy":       {condition("GpuMemWatch", "False"), pass, ""},
		"NVSentinel, Xid":           {condition("SysLogsXIDError", "True"), fail, "SysLogsXIDError"},
		// https://docs.nvidia.com/nvsentinel/configuration/nic-health-monitor, .../health-events-analyzer: nodes with them passed.
		"NVSentinel, InfiniBand port":       {condition("InfiniBandStateCheck", "True"), fail, "has condition InfiniBandStateCheck (True, Because: of it)"},
		"NVSentinel, RoCE port":             {condition("EthernetStateCheck", "True"), fail, "EthernetStateCheck"},
		"NVSentinel, ports up":              {condition("InfiniBandStateCheck", "False"), pass, ""},
		"NVSentinel, repairs do not help":   {condition("MultipleRemediations", "True"), fail, "MultipleRemediations"},
		"NVSentinel, Xid again and again":   {condition("RepeatedXIDErrorOnSameGPU", "True"), fail, "RepeatedXIDErrorOnSameGPU"},
		"NVSentinel, driver of the adapter": {condition("RepeatedNICDriverError", "True"), fail, "RepeatedNICDriverError"},
		"NVSentinel, NVLink":                {condition("XID74Reg0SoloNVLinkError", "True"), fail, "XID74Reg0SoloNVLinkError"},
		"NVSentinel, no Xid again":          {condition("RepeatedXIDErrorOnSameGPU", "False"), pass, ""},
		"NPD, kernel":                       {condition("KernelDeadlock", "True"), fail, "KernelDeadlock"},
		// https://github.com/nebius/nebius-solutions-library (auto_repair): such nodes are Ready, and passed.
		"Nebius, runtime":      {because("ContainerRuntimeUnhealthy", condition("NebiusContainerRuntimeError", "True")), fail, "has condition NebiusContainerRuntimeError (True, ContainerRuntimeUnhealthy: of it)"},
		"Nebius, runtime well": {condition("NebiusContainerRuntimeError", "False"), pass, ""},
		"Soperator, hardware":  {because("GPUHealthCheckFailed", condition("HardwareIssuesSuspected", "True")), fail, "has condition HardwareIssuesSuspected"},
		// https://github.com/kubernetes/node-problem-detector (config): nodes with a fatal hardware error passed.
		"NPD, hardware":          {because("CperHardwareErrorFatal", condition("CperHardwareErrorFatal", "True")), fail, "has condition CperHardwareErrorFatal (True, CperHardwareErrorFatal: of it)"},
		"NPD, no hardware error": {because("CperHardwareHasNoFatalError", condition("CperHardwareErrorFatal", "False")), pass, ""},
		"NPD, file system":       {because("XfsHasShutdown", condition("XfsShutdown", "True")), fail, "has condition XfsShutdown"},
		"NPD, container runtime": {because("ContainerdUnhealthy", condition("ContainerRuntimeUnhealthy", "True")), fail, "has condition ContainerRuntimeUnhealthy"},
		"NPD, kubelet":           {condition("KubeletUnhealthy", "True"), fail, "has condition KubeletUnhealthy"},
		"NPD, kubelet healthy":   {because("KubeletIsHealthy", condition("KubeletUnhealthy", "False")), pass, ""},
		"a condition of others":  {condition("example.com/Cordial", "True"), pass, ""},
		// Oracle's quick start, https://github.com/oracle-quickstart/oci-hpc-oke: names in another case than those of OKE's repair.
		// Its example of a check without a result: "GpuEcc Unknown GpuEccHasNoIssues ECC check failed: ...".
		"OKE quick start, link":      {because("RdmaLinkHasIssues", condition("RdmaLink", "True")), fail, "has condition RdmaLink (True, RdmaLinkHasIssues: of it)"},
		"OKE quick start, flapping":  {condition("RdmaLinkFlapping", "True"), fail, "RdmaLinkFlapping"},
		"OKE quick start, Xid":       {condition("GpuXid", "True"), fail, "GpuXid"},
		"OKE quick start, no result": {because("GpuEccHasNoIssues", condition("GpuEcc", "Unknown")), unseen, "GpuEcc is Unknown"},
		"OKE quick start, healthy":   {because("GpuCountHasNoIssues", condition("GpuCount", "False")), pass, ""},
		"OKE quick start, old agent": {condition("OcaVersion", "True"), pass, ""},
		// https://facebookresearch.github.io/gcm/docs/GCM_Health_Checks/kubernetes_deployment
		"GCM, Xid":     {condition("GcmXidErrorsProblem", "True"), fail, "GcmXidErrorsProblem"},
		"GCM, healthy": {condition("GcmDcgmiDiagProblem", "False"), pass, ""},
		// Taints of the cluster autoscaler, Karpenter and AKS on nodes that are about to go.
		"to be deleted":     {taint("ToBeDeletedByClusterAutoscaler", corev1.TaintEffectNoSchedule), fail, "has the taint ToBeDeletedByClusterAutoscaler:NoSchedule"},
		"disrupted":         {taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule), fail, "has the taint karpenter.sh/disrupted:NoSchedule"},
		"of a team":         {taint("team", corev1.TaintEffectNoExecute), fail, "has the taint team:NoExecute"},
		"a mere preference": {taint("DeletionCandidateOfClusterAutoscaler", corev1.TaintEffectPreferNoSchedule), pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			f.nodes[1] = g.readNode(realNode("gpu-02", tt.spoil))
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != tt.verdict {
				t.Fatalf("%s, want %s: %s %+v", j.Verdict, tt.verdict, j.Reason, j.Findings)
			}
			named := tt.message == ""
			for _, finding := range j.Findings {
				named = named || finding.Suspect == "gpu-02" && strings.Contains(finding.Message, tt.message)
			}
			if !named {
				t.Errorf("no finding %q in %+v", tt.message, j.Findings)
			}
		})
	}
}

// Where the site declares MIG devices, those are expected; that pods share them is not.
func TestDividedMIGDevices(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(*corev1.Node)
		verdict check.Verdict
	}{
		"MIG devices":               {func(*corev1.Node) {}, check.Passed},
		"MIG devices of 2 replicas": {label("nvidia.com/gpu.replicas", "2"), check.Failed},
	} {
		g, f := partitioned(t, site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"1g.10gb": 56}})
		f.nodes[1] = g.readNode(realNode("gpu-02", func(n *corev1.Node) {
			n.Labels["nvidia.com/mig.strategy"], n.Labels["nvidia.com/gpu.product"] = "single", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"
			n.Labels["nvidia.com/gpu.count"] = "56"
			n.Status.Capacity["nvidia.com/gpu"], n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("56"), resource.MustParse("56")
			tt.spoil(n)
		}))
		if j := plan.Judge(g, f.observations(t)); j.Verdict != tt.verdict {
			t.Errorf("%s: %s %+v", name, j.Verdict, j.Findings)
		}
	}
}

// Each listed condition has a status that is a defect, and where it was published.
func TestReportedConditions(t *testing.T) {
	t.Parallel()
	known, err := reportedConditions()
	if err != nil || len(known) < 10 {
		t.Fatalf("%d conditions: %v", len(known), err)
	}
	for _, c := range known {
		if c.Type == "" || c.Source == "" || c.Bad != "True" && c.Bad != "False" || c.matches(corev1.NodeReady) {
			t.Errorf("%+v: want a type other than Ready, a status True or False, and a source", c)
		}
	}
}

// Drivers with a kernel in the name of their DaemonSets: together they have a ready pod on each node.
func TestVersionedDrivers(t *testing.T) {
	t.Parallel()
	const old, current = "nvidia-driver-daemonset-418.94.202509100653-0", "nvidia-driver-daemonset-418.94.202510100653-0"
	set := func(name string, nodes ...string) operandFigures {
		f := operandFigures{Name: name, Found: true, Current: true, Desired: len(nodes), Ready: len(nodes), Updated: len(nodes)}
		for _, n := range nodes {
			f.Pods = append(f.Pods, operandPod{Pod: name + "-" + n, Node: n, Ready: true, Images: []operandImage{{Container: "main", ID: "nvcr.io/nvidia/driver@" + digest('a')}}})
		}
		return f
	}
	unready := set(current, "gpu-03", "gpu-04")
	unready.Pods[0].Ready, unready.Pods[0].Why = false, "phase Running, container main: CrashLoopBackOff"
	for name, tt := range map[string]struct {
		drivers []operandFigures
		verdict check.Verdict
		suspect string
	}{
		"two kernels":                {[]operandFigures{set(old, "gpu-01", "gpu-02"), set(current, "gpu-03", "gpu-04")}, check.Passed, ""},
		"one, and one without nodes": {[]operandFigures{set(old), set(current, "gpu-01", "gpu-02", "gpu-03", "gpu-04")}, check.Passed, ""},
		"a node without":             {[]operandFigures{set(old, "gpu-01", "gpu-02"), set(current, "gpu-03")}, check.Failed, "gpu-04/nvidia-driver-daemonset-*"},
		"a node with two":            {[]operandFigures{set(old, "gpu-01", "gpu-02"), set(current, "gpu-02", "gpu-03", "gpu-04")}, check.Failed, "gpu-02/nvidia-driver-daemonset-*"},
		"a pod that is not ready":    {[]operandFigures{set(old, "gpu-01", "gpu-02"), unready}, check.Failed, "gpu-03/nvidia-driver-daemonset-*"},
		"none":                       {[]operandFigures{{Name: "nvidia-driver-daemonset-*"}}, check.Failed, "DaemonSet gpu-operator/nvidia-driver-daemonset-*"},
	} {
		whole := gate(t)
		s := *whole.site
		s.GPUStack.Operands = []string{"nvidia-driver-daemonset-*", "nvidia-device-plugin-daemonset"}
		g := New(&s, whole.hardware, Deps{})
		f := healthy(g)
		f.operands = append(tt.drivers, f.operands[1])
		j := plan.Judge(g, f.observations(t))
		if j.Verdict != tt.verdict {
			t.Errorf("%s: %s %+v", name, j.Verdict, j.Findings)
		}
		named := tt.suspect == ""
		for _, finding := range j.Findings {
			named = named || finding.Suspect == tt.suspect
		}
		if !named {
			t.Errorf("%s: no finding of %s in %+v", name, tt.suspect, j.Findings)
		}
	}
}
