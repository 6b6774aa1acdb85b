package inventory

import (
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// device has string attributes of the NVIDIA driver.
func device(name string, attributes map[string]string, more func(*resourcev1.Device)) resourcev1.Device {
	d := resourcev1.Device{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	for key, value := range attributes {
		d.Attributes[resourcev1.QualifiedName(key)] = resourcev1.DeviceAttribute{StringValue: new(value)}
	}
	if more != nil {
		more(&d)
	}
	return d
}

func tainted(effect resourcev1.DeviceTaintEffect) func(*resourcev1.Device) {
	return func(d *resourcev1.Device) {
		d.Taints = []resourcev1.DeviceTaint{{Key: "gpu.nvidia.com/xid", Value: "43", Effect: effect}}
	}
}

func counts(set string) func(*resourcev1.Device) {
	return func(d *resourcev1.Device) {
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: set}}
	}
}

func sliceOfA(devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "a-gpu.nvidia.com"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: Driver, NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", Generation: 1, ResourceSliceCount: 1}, Devices: devices,
	}}
}

// Which devices of a ResourceSlice are whole GPUs: attributes, counters and taints as versions of NVIDIA's driver
// publish them.
func TestWholeGPUs(t *testing.T) {
	t.Parallel()
	whole := map[string]string{"type": "gpu", "uuid": "GPU-a", "productName": "NVIDIA A100 80GB PCIe"}
	for name, tt := range map[string]struct {
		devices []resourcev1.Device
		gpus    int
		problem string
	}{
		"whole": {[]resourcev1.Device{device("gpu-0", whole, nil)}, 1, ""},
		// kubernetes-sigs/dra-driver-nvidia-gpu, pull request 983: a non-fatal Xid is a taint without effect.
		"an informational taint": {[]resourcev1.Device{device("gpu-0", whole, tainted(resourcev1.DeviceTaintEffectNone))}, 1, ""},
		"a fatal Xid":            {[]resourcev1.Device{device("gpu-0", whole, tainted(resourcev1.DeviceTaintEffectNoSchedule))}, 0, "gpu-0 is tainted"},
		"an unknown effect":      {[]resourcev1.Device{device("gpu-0", whole, tainted("Later"))}, 0, "gpu-0 is tainted"},
		// kubernetes-sigs/dra-driver-nvidia-gpu, issue 719 (v25.8): an AKS node of MIG devices also offers the GPU.
		"also MIG devices": {[]resourcev1.Device{
			device("gpu-0", whole, nil),
			device("gpu-0-mig-9-4-4", map[string]string{"type": "mig", "uuid": "MIG-b", "parentUUID": "GPU-a", "profile": "3g.40gb"}, nil),
		}, 0, "gpu-0 is divided: MIG device gpu-0-mig-9-4-4"},
		"MIG devices of another GPU": {[]resourcev1.Device{
			device("gpu-0", whole, nil),
			device("gpu-1-mig-9-4-4", map[string]string{"type": "mig", "uuid": "MIG-b", "parentUUID": "GPU-b"}, nil),
		}, 1, ""},
		// Feature gate DynamicMIG: devices share the counters of their GPU, and exist when a claim has them.
		"MIG devices to come": {[]resourcev1.Device{
			device("gpu-0", whole, counts("gpu-0-counter-set")),
			device("gpu-0-mig-1g10gb-19-0", map[string]string{"type": "mig", "parentUUID": "GPU-a"}, counts("gpu-0-counter-set")),
		}, 1, ""},
		// KEP-5075, consumable capacity.
		"for several claims at once": {[]resourcev1.Device{device("gpu-0", whole, func(d *resourcev1.Device) { d.AllowMultipleAllocations = new(true) })}, 0, "gpu-0 can be allocated to several claims"},
		// Feature gate PassthroughSupport.
		"for virtual machines": {[]resourcev1.Device{
			device("gpu-0", whole, nil),
			device("gpu-vfio-0", map[string]string{"type": "vfio", "uuid": "GPU-a"}, nil),
		}, 1, ""},
	} {
		gpus, _, problems := GPUsOnNode([]Slice{SliceOf(sliceOfA(tt.devices...))}, "a")
		if len(gpus) != tt.gpus || (tt.problem == "") != (len(problems) == 0) || tt.problem != "" && !strings.Contains(problems[0], tt.problem) {
			t.Errorf("%s: %+v, %q, want %d GPUs and %q", name, gpus, problems, tt.gpus, tt.problem)
		}
	}
}

// A claim of a part of a GPU, or of the same GPU for a virtual machine, holds the GPU: it counted as free.
func TestAPartHoldsItsGPU(t *testing.T) {
	t.Parallel()
	result := func(name string) resourcev1.DeviceRequestAllocationResult {
		return resourcev1.DeviceRequestAllocationResult{Driver: Driver, Pool: "a", Device: name}
	}
	gpuOf := func(i, uuid string) resourcev1.Device {
		return device("gpu-"+i, map[string]string{"type": "gpu", "uuid": uuid, "resource.kubernetes.io/pciBusID": "0000:0" + i + ":00.0"}, counts("gpu-"+i+"-counter-set"))
	}
	slices := []Slice{SliceOf(sliceOfA(
		gpuOf("0", "GPU-a"), gpuOf("1", "GPU-b"),
		device("gpu-0-mig-1g10gb-19-0", map[string]string{"type": "mig", "parentUUID": "GPU-a"}, counts("gpu-0-counter-set")),
		device("gpu-0-mig-1g10gb-19-1", map[string]string{"type": "mig"}, counts("gpu-0-counter-set")),
		device("gpu-vfio-1", map[string]string{"type": "vfio", "resource.kubernetes.io/pciBusID": "0000:01:00.0"}, nil),
	))}
	for name, tt := range map[string]struct {
		claims  []runtime.Object
		free    int
		holders int
	}{
		"nothing":                {nil, 2, 0},
		"a GPU":                  {[]runtime.Object{claim("one", result("gpu-1"))}, 1, 1},
		"a MIG device":           {[]runtime.Object{claim("one", result("gpu-0-mig-1g10gb-19-0"))}, 1, 1},
		"two of one GPU":         {[]runtime.Object{claim("one", result("gpu-0-mig-1g10gb-19-0")), claim("two", result("gpu-0-mig-1g10gb-19-1"))}, 1, 2},
		"for a virtual machine":  {[]runtime.Object{claim("one", result("gpu-vfio-1"))}, 1, 1},
		"parts of both":          {[]runtime.Object{claim("one", result("gpu-0-mig-1g10gb-19-1"), result("gpu-vfio-1"))}, 0, 1},
		"a device that has gone": {[]runtime.Object{claim("one", result("gpu-7"))}, 2, 0},
	} {
		cluster := &kube.Cluster{Client: fake.NewClientset(append(tt.claims, node("a", true, false))...)}
		got, err := Usage(t.Context(), cluster, []string{"a"}, slices)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Free() != tt.free || len(got[0].Holders) != tt.holders {
			t.Errorf("%s: %+v, want %d free and %d holders", name, got[0], tt.free, tt.holders)
		}
	}
}
