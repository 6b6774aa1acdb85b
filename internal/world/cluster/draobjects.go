package cluster

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/world"
)

// draDriver is the name of NVIDIA's DRA driver for GPUs and of its DeviceClass.
const draDriver = "gpu.nvidia.com"

// deviceClass is the class for whole GPUs in the driver's chart, or with a selector that an
// administrator has added for another product.
func deviceClass(mismatch bool) *resourcev1.DeviceClass {
	selector := "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
	if mismatch {
		selector += " && device.attributes['gpu.nvidia.com'].productName == 'NVIDIA A100-SXM4-80GB'"
	}
	return &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: draDriver},
		Spec:       resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}}},
	}
}

// desiredSlice returns what the driver's plugin on a host publishes, or nil if it does not run.
// Node feature discovery's labels place it, like all operands.
func desiredSlice(state world.State, host world.Node, owner types.UID) *resourcev1.ResourceSlice {
	if host.System || host.NoSlice || state.NoDRADriver || state.ZeroGPUNodes || host.NFDLabelsMissing {
		return nil
	}
	s := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: sliceName(host.Name),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Node", Name: host.Name, UID: owner, Controller: new(true),
			}},
		},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: draDriver, NodeName: new(host.Name),
			Pool: resourcev1.ResourcePool{Name: host.Name, Generation: 1, ResourceSliceCount: 1},
		},
	}
	if host.NVMLError != "" {
		return s // the plugin runs and cannot enumerate devices
	}
	for _, g := range host.GPUs {
		if g.Usable() {
			s.Spec.Devices = append(s.Spec.Devices, draDevice(host, g))
		}
	}
	return s
}

// sliceName has a suffix like a generated name, but a stable one.
func sliceName(node string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return fmt.Sprintf("%s-%s-%05x", node, draDriver, h.Sum32()&0xfffff)
}

// draDevice is a GPU in the format of the driver's version 25.
func draDevice(host world.Node, g world.GPU) resourcev1.Device {
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	hw := host.Hardware
	version := func(s string) resourcev1.DeviceAttribute {
		s = semantic(s)
		return resourcev1.DeviceAttribute{VersionValue: &s}
	}
	return resourcev1.Device{
		Name: deviceName(g.Index),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": text("gpu"), "uuid": text(g.UUID), "productName": text(hw.GPU.Product), "brand": text("Nvidia"),
			"architecture": text(hw.GPU.Architecture), "pcieBusID": text(strings.ToLower(g.BusID)),
			"cudaComputeCapability": version(hw.GPU.ComputeCapability),
			"driverVersion":         version(host.Driver), "cudaDriverVersion": version(host.CUDA),
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"memory": {Value: *resource.NewQuantity(int64(hw.GPU.MemoryMiB)<<20, resource.BinarySI)},
		},
	}
}

// deviceName is the driver's name of a GPU; deviceIndex parses it and returns -1 for other
// devices.
func deviceName(index int) string { return "gpu-" + strconv.Itoa(index) }

func deviceIndex(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "gpu-"))
	if err != nil || n < 0 || deviceName(n) != name {
		return -1
	}
	return n
}

// semantic converts NVIDIA's versions to semantic versions: "580.105.08" is 580.105.8.
func semantic(version string) string {
	parts := append(strings.Split(version, "."), "0", "0")[:3]
	for i, p := range parts {
		if p = strings.TrimLeft(p, "0"); p == "" {
			p = "0"
		}
		parts[i] = p
	}
	return strings.Join(parts, ".")
}
