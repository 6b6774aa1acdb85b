package cluster

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/nfd"
)

const gpuResource corev1.ResourceName = "nvidia.com/gpu"

const (
	zone = "hall-1"
	// Resources of a host without GPUs.
	systemCPUs   = 64
	systemMemory = 512 // GiB
)

// desiredNode is the Node object of a host.
func desiredNode(state world.State, host world.Node) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        host.Name,
		Labels:      labelsOf(state, host),
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
	}}
	if !host.System {
		n.Spec.Taints = []corev1.Taint{{Key: string(gpuResource), Value: "present", Effect: corev1.TaintEffectNoSchedule}}
	}
	if host.ToBeDeleted {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: deletionTaint, Value: "1764334800", Effect: corev1.TaintEffectNoSchedule})
	}
	n.Status.Capacity, n.Status.Allocatable = resourcesOf(state, host)
	n.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: hostIP(host)},
		{Type: corev1.NodeHostName, Address: host.Name},
	}
	n.Status.Conditions = []corev1.NodeCondition{diskPressure(host)}
	if host.KernelDeadlock {
		n.Status.Conditions = append(n.Status.Conditions, kernelDeadlock)
	}
	n.Status.NodeInfo.KernelVersion = host.OS.Kernel
	n.Status.NodeInfo.OSImage = host.OS.PrettyName
	n.Status.NodeInfo.OperatingSystem, n.Status.NodeInfo.Architecture = "linux", host.Arch()
	return n
}

// deletionTaint is set by Cluster Autoscaler on a node that it removes; its value is the time of that in Unix seconds
// (kubernetes/autoscaler, cluster-autoscaler/utils/taints/taints.go).
const deletionTaint = "ToBeDeletedByClusterAutoscaler"

// kernelDeadlock is a condition of node-problem-detector (config/kernel-monitor.json).
var kernelDeadlock = corev1.NodeCondition{
	Type: "KernelDeadlock", Status: corev1.ConditionTrue, Reason: "DockerHung",
	Message: "task docker:7 blocked for more than 300 seconds.",
}

// diskPressure is the kubelet's condition.
func diskPressure(host world.Node) corev1.NodeCondition {
	if host.DiskPressure {
		return corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Reason: "KubeletHasDiskPressure", Message: "kubelet has disk pressure"}
	}
	return corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"}
}

// resourcesOf returns what the host's kubelet and device plugins report. A failed device counts in
// the capacity.
func resourcesOf(state world.State, host world.Node) (capacity, allocatable corev1.ResourceList) {
	quantity := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	gib := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n)<<30, resource.BinarySI) }
	cpus, memory := systemCPUs, systemMemory
	if !host.System {
		cpus, memory = host.Hardware.Node.CPUs, host.Hardware.Node.MemoryGiB
	}
	capacity = corev1.ResourceList{
		corev1.ResourceCPU: quantity(cpus), corev1.ResourceMemory: gib(memory),
		corev1.ResourcePods: quantity(110), corev1.ResourceEphemeralStorage: gib(1 << 10),
	}
	allocatable = corev1.ResourceList{
		corev1.ResourceCPU: quantity(cpus - 2), corev1.ResourceMemory: gib(memory - 8),
		corev1.ResourcePods: quantity(110), corev1.ResourceEphemeralStorage: gib(960),
	}
	if host.System {
		return capacity, allocatable
	}
	present := 0
	for _, g := range host.GPUs {
		if g.Present {
			present++
		}
	}
	usable := host.UsableGPUs()
	if state.ZeroGPUNodes || host.NFDLabelsMissing || host.MIGHalfApplied {
		usable = 0 // the device plugin does not run
	}
	capacity[gpuResource], allocatable[gpuResource] = quantity(present), quantity(usable)
	if host.DRAOnly {
		delete(capacity, gpuResource)
		delete(allocatable, gpuResource)
	}
	switch host.MIG {
	case world.MIGSingle:
		capacity[gpuResource], allocatable[gpuResource] = quantity(world.MIGDevices*present), quantity(world.MIGDevices*usable)
	case world.MIGMixed:
		const devices = corev1.ResourceName("nvidia.com/mig-" + world.MIGProfile)
		capacity[gpuResource], allocatable[gpuResource] = quantity(0), quantity(0)
		capacity[devices], allocatable[devices] = quantity(world.MIGDevices*present), quantity(world.MIGDevices*usable)
	}
	if host.RDMACount > 0 {
		name := corev1.ResourceName(host.Hardware.Fabric.RDMAResource)
		capacity[name], allocatable[name] = quantity(host.RDMACount), quantity(host.RDMACount)
	}
	return capacity, allocatable
}

// labelsOf returns the labels of the kubelet, node feature discovery and GPU feature discovery.
// The last depend on those of node feature discovery.
func labelsOf(state world.State, host world.Node) map[string]string {
	l := map[string]string{
		corev1.LabelHostname:                             host.Name,
		corev1.LabelOSStable:                             "linux",
		corev1.LabelArchStable:                           host.Arch(),
		corev1.LabelTopologyZone:                         zone,
		corev1.LabelInstanceTypeStable:                   "system",
		"feature.node.kubernetes.io/cpu-model.vendor_id": host.CPUVendor(),
		"feature.node.kubernetes.io/kernel-version.full": host.OS.KernelLabel(),
	}
	if !host.NoOSLabels {
		l["feature.node.kubernetes.io/system-os_release.ID"] = host.OS.ID
		l["feature.node.kubernetes.io/system-os_release.VERSION_ID"] = host.OS.VersionID
	}
	if host.Rack != "" {
		l["topology.kubernetes.io/rack"] = host.Rack
	}
	if host.System {
		return l
	}
	hw := host.Hardware.GPU
	l[corev1.LabelInstanceTypeStable] = strconv.Itoa(len(host.GPUs)) + "x-" + hw.Family() + "-sxm"
	if len(host.HCAs) > 0 {
		l["feature.node.kubernetes.io/pci-15b3.present"] = "true"
	}
	if state.ZeroGPUNodes || host.NFDLabelsMissing {
		return l
	}
	l["feature.node.kubernetes.io/pci-10de.present"], l["nvidia.com/gpu.present"] = "true", "true"
	maps.Copy(l, nfd.GPULabels(state, host))
	if host.MIGHalfApplied {
		l[migConfig], l[migState] = halfApplied, "failed"
	}
	if host.MIG != "" {
		l[migConfig], l[migState] = halfApplied, "success"
	}
	for _, operand := range operands {
		l["nvidia.com/gpu.deploy."+operand] = "true"
	}
	return l
}

// operands are the GPU Operator's operands on a GPU node by their label names
// (github.com/NVIDIA/gpu-operator, controllers/state_manager.go).
var operands = []string{
	"container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver", "gpu-feature-discovery", "mig-manager",
	"node-status-exporter", "nvsm", "operator-validator",
}

// ownedLabel reports whether this package manages the label.
func ownedLabel(key string) bool {
	return strings.HasPrefix(key, "nvidia.com/") || strings.HasPrefix(key, "feature.node.kubernetes.io/")
}

// setMeta sets want's labels and the taint of deletion, deletes other owned labels and removes the hold.
func setMeta(node, want *corev1.Node, owned func(label string) bool) {
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	for key := range node.Labels {
		if _, ok := want.Labels[key]; !ok && owned(key) {
			delete(node.Labels, key)
		}
	}
	maps.Copy(node.Labels, want.Labels)
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	maps.Copy(node.Annotations, want.Annotations)
	delete(node.Annotations, holdAnnotation)
	ours := func(t corev1.Taint) bool { return t.Key == deletionTaint }
	if slices.ContainsFunc(node.Spec.Taints, ours) != slices.ContainsFunc(want.Spec.Taints, ours) {
		others := slices.DeleteFunc(slices.Clone(node.Spec.Taints), ours)
		node.Spec.Taints = append(others, slices.DeleteFunc(slices.Clone(want.Spec.Taints), func(t corev1.Taint) bool { return !ours(t) })...)
	}
}

// setStatus sets want's resources, addresses and conditions. kwok's address and other conditions
// are kept.
func setStatus(node, want *corev1.Node) {
	node.Status.Capacity, node.Status.Allocatable = want.Status.Capacity.DeepCopy(), want.Status.Allocatable.DeepCopy()
	addresses := slices.DeleteFunc(slices.Clone(node.Status.Addresses), func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalIP || a.Type == corev1.NodeHostName
	})
	node.Status.Addresses = append(addresses, want.Status.Addresses...)
	if port := want.Status.DaemonEndpoints.KubeletEndpoint.Port; port != 0 {
		node.Status.DaemonEndpoints.KubeletEndpoint.Port = port
	}
	// Conditions of the kubelet that do not exist yet are first written by kwok.
	detected := func(c corev1.NodeCondition) bool { return c.Type == kernelDeadlock.Type }
	node.Status.Conditions = slices.Clone(node.Status.Conditions)
	if wanted := slices.ContainsFunc(want.Status.Conditions, detected); wanted && !slices.ContainsFunc(node.Status.Conditions, detected) {
		c := kernelDeadlock
		c.LastHeartbeatTime, c.LastTransitionTime = metav1.Now(), metav1.Now()
		node.Status.Conditions = append(node.Status.Conditions, c)
	} else if !wanted {
		node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, detected)
	}
	for i, have := range node.Status.Conditions {
		for _, c := range want.Status.Conditions {
			if c.Type == have.Type && c.Status != have.Status {
				c.LastHeartbeatTime, c.LastTransitionTime = metav1.Now(), metav1.Now()
				node.Status.Conditions[i] = c
			}
		}
	}
	node.Status.Images = want.Status.Images
	info := &node.Status.NodeInfo
	info.KernelVersion, info.OSImage = want.Status.NodeInfo.KernelVersion, want.Status.NodeInfo.OSImage
	info.OperatingSystem, info.Architecture = want.Status.NodeInfo.OperatingSystem, want.Status.NodeInfo.Architecture
	// kwok reports its own versions for others.
	info.KubeletVersion = cmp.Or(want.Status.NodeInfo.KubeletVersion, info.KubeletVersion)
	info.ContainerRuntimeVersion = cmp.Or(want.Status.NodeInfo.ContainerRuntimeVersion, info.ContainerRuntimeVersion)
}

func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// hostIP returns the host part of a host's address.
func hostIP(host world.Node) string {
	ip, _, err := net.SplitHostPort(host.Address)
	if err != nil {
		return host.Address
	}
	return ip
}
