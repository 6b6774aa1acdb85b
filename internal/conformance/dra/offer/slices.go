package offer

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Driver is NVIDIA's DRA driver for GPUs, and the name of its DeviceClass.
const Driver = "gpu.nvidia.com"

// typeGPU is what that driver calls a whole GPU; parts of one are of type mig.
const typeGPU = "gpu"

// page bounds how many slices one answer of the API server holds.
const page = 200

// Slice is a ResourceSlice as it was published.
type Slice struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	// Node is empty for devices that are not of one node.
	Node       string   `json:"node,omitempty"`
	Generation int64    `json:"generation"`
	PoolSlices int64    `json:"poolSlices"`
	Devices    []Device `json:"devices"`
}

// Device is one of a slice. UUID and Product are empty when it has no such attribute.
type Device struct {
	Name    string `json:"name"`
	Type    string `json:"type,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Product string `json:"product,omitempty"`
	// Tainted devices are not allocated to those that don't tolerate it.
	Tainted bool `json:"tainted,omitempty"`
}

// Slices lists every driver's.
func Slices(ctx context.Context, cluster *kube.Cluster) ([]Slice, error) {
	out := []Slice{}
	opts := metav1.ListOptions{Limit: page}
	for {
		list, err := cluster.Client.ResourceV1().ResourceSlices().List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list resource slices: %w", err)
		}
		for i := range list.Items {
			out = append(out, sliceOf(&list.Items[i]))
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

func sliceOf(s *resourcev1.ResourceSlice) Slice {
	out := Slice{
		Name: s.Name, Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name,
		Generation: s.Spec.Pool.Generation, PoolSlices: s.Spec.Pool.ResourceSliceCount, Devices: []Device{},
	}
	if s.Spec.NodeName != nil {
		out.Node = *s.Spec.NodeName
	}
	for _, d := range s.Spec.Devices {
		out.Devices = append(out.Devices, Device{
			Name: d.Name, Type: attribute(s.Spec.Driver, d, "type"), UUID: attribute(s.Spec.Driver, d, "uuid"),
			Product: attribute(s.Spec.Driver, d, "productName"), Tainted: len(d.Taints) > 0,
		})
	}
	return out
}

// attribute reads a text; a driver's own may be written with its name or without.
func attribute(driver string, d resourcev1.Device, name string) string {
	for _, key := range []string{name, driver + "/" + name} {
		if a, ok := d.Attributes[resourcev1.QualifiedName(key)]; ok && a.StringValue != nil {
			return *a.StringValue
		}
	}
	return ""
}
