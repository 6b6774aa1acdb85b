package inventory

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Driver is NVIDIA's DRA driver for GPUs, and the name of its DeviceClass.
const Driver = "gpu.nvidia.com"

// typeGPU is that driver's type of a whole GPU; parts of one have the type mig.
const typeGPU = "gpu"

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
	// Tainted devices are only allocated to claims that tolerate the taint.
	Tainted bool `json:"tainted,omitempty"`
}

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
		out.Devices = append(out.Devices, Device{
			Name: d.Name, Type: Attribute(s.Spec.Driver, d, "type"), UUID: Attribute(s.Spec.Driver, d, "uuid"),
			Product: Attribute(s.Spec.Driver, d, "productName"), Tainted: len(d.Taints) > 0,
		})
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
