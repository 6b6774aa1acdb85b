package inventory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Driver is NVIDIA's DRA driver for GPUs, and the name of its DeviceClass.
const Driver = "gpu.nvidia.com"

// Types of that driver's devices: a whole GPU, and a part of one. A whole one for a virtual machine is vfio.
const (
	typeGPU = "gpu"
	typeMIG = "mig"
)

// pageSize limits how many slices one answer of the API server holds.
const pageSize = 200

// Slice is a published ResourceSlice.
type Slice struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	// Node is empty for devices that do not belong to one node.
	Node       string   `json:"node,omitempty"`
	Generation int64    `json:"generation"`
	PoolSlices int64    `json:"poolSlices"`
	Devices    []Device `json:"devices"`
}

// Device is a device of a slice. UUID and Product are empty without such an attribute.
type Device struct {
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Product string `json:"product,omitempty"`
	// Tainted devices are only allocated to claims that tolerate the taint. A taint with the effect None is information.
	Tainted bool `json:"tainted,omitempty"`
	// Shared devices can be allocated to several claims at once (allowMultipleAllocations).
	Shared bool `json:"shared,omitempty"`
	// Parent is the UUID of the GPU of a MIG device, PCI the address, Counters the counter sets of the pool that the
	// device consumes: by one of them a device is known to be of the same GPU as another. Empty without them.
	Parent   string   `json:"parent,omitempty"`
	PCI      string   `json:"pci,omitempty"`
	Counters []string `json:"counters,omitempty"`
}

// sameGPU reports whether two devices of a pool are of one GPU.
func (d Device) sameGPU(gpu Device) bool {
	return gpu.UUID != "" && (d.Parent == gpu.UUID || d.UUID == gpu.UUID) || d.PCI != "" && d.PCI == gpu.PCI ||
		slices.ContainsFunc(d.Counters, func(set string) bool { return slices.Contains(gpu.Counters, set) })
}

// onDemand reports whether a MIG device exists only while a claim has it: it shares the counters of its GPU.
func (d Device) onDemand() bool { return len(d.Counters) > 0 }

// ResourceSlices lists the slices of a driver; "" is every driver.
func ResourceSlices(ctx context.Context, cluster *kube.Cluster, driver string) ([]resourcev1.ResourceSlice, error) {
	var out []resourcev1.ResourceSlice
	opts := metav1.ListOptions{Limit: pageSize}
	if driver != "" {
		opts.FieldSelector = resourcev1.ResourceSliceSelectorDriver + "=" + driver
	}
	api := cluster.DRA().ResourceSlices()
	for {
		list, err := api.List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list resource slices: %w", err)
		}
		out = append(out, list.Items...)
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// ListSlices lists the slices of every driver.
func ListSlices(ctx context.Context, cluster *kube.Cluster) ([]Slice, error) {
	list, err := ResourceSlices(ctx, cluster, "")
	if err != nil {
		return nil, err
	}
	out := make([]Slice, 0, len(list))
	for i := range list {
		out = append(out, SliceOf(&list[i]))
	}
	return out, nil
}

// SliceOf is what counts of a ResourceSlice.
func SliceOf(s *resourcev1.ResourceSlice) Slice {
	out := Slice{
		Name: s.Name, Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name,
		Generation: s.Spec.Pool.Generation, PoolSlices: s.Spec.Pool.ResourceSliceCount, Devices: []Device{},
	}
	if s.Spec.NodeName != nil {
		out.Node = *s.Spec.NodeName
	}
	for _, d := range s.Spec.Devices {
		read := Device{
			Name: d.Name, Type: Attribute(s.Spec.Driver, d, "type"), UUID: Attribute(s.Spec.Driver, d, "uuid"),
			Product: Attribute(s.Spec.Driver, d, "productName"), Parent: Attribute(s.Spec.Driver, d, "parentUUID"),
			PCI:     cmp.Or(Attribute(s.Spec.Driver, d, "resource.kubernetes.io/pciBusID"), Attribute(s.Spec.Driver, d, "pciBusID"), Attribute(s.Spec.Driver, d, "pcieBusID")),
			Tainted: slices.ContainsFunc(d.Taints, func(t resourcev1.DeviceTaint) bool { return t.Effect != resourcev1.DeviceTaintEffectNone }),
			Shared:  d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations,
		}
		for _, c := range d.ConsumesCounters {
			read.Counters = append(read.Counters, c.CounterSet)
		}
		out.Devices = append(out.Devices, read)
	}
	return out
}

// Attribute is a string attribute of a device, "" without one; its key may be qualified with
// the driver's name.
func Attribute(driver string, d resourcev1.Device, name string) string {
	for _, key := range []string{name, driver + "/" + name} {
		if a, ok := d.Attributes[resourcev1.QualifiedName(key)]; ok && a.StringValue != nil {
			return *a.StringValue
		}
	}
	return ""
}
