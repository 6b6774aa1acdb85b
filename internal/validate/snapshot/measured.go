package snapshot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

const (
	productLabel = "nvidia.com/gpu.product"
	driverLabel  = "nvidia.com/cuda.driver-version.full"
	// releaseLabel is the prefix of the labels of node feature discovery with the fields of
	// os-release.
	releaseLabel = "feature.node.kubernetes.io/system-os_release."
)

// modelPath is the measurement of the GPUs' product.
var modelPath = constraint.Path{Type: "GPU", Subtype: "smi", Key: "gpu.model"}

// measured is one node in the snapshot format of recipe constraints. Values that
// were not observed are missing.
func (j *judge) measured(server Server, n Node) *constraint.Snapshot {
	values := map[constraint.Path]string{}
	put := func(kind, subtype, key, value string) {
		if value != "" {
			values[constraint.Path{Type: kind, Subtype: subtype, Key: key}] = value
		}
	}
	put("K8s", "server", "version", server.Version)
	put("K8s", "node", "kernel", n.Kernel)
	put("K8s", "node", "kubelet", n.Kubelet)
	put("K8s", "node", "instance-type", n.Labels["node.kubernetes.io/instance-type"])
	put("GPU", "smi", "gpu.model", j.model(n))
	put("GPU", "smi", "driver-version", j.driver(n))
	if gpus, _ := j.count(n); gpus > 0 {
		put("GPU", "smi", "gpu-count", strconv.Itoa(gpus))
	}
	for key, value := range j.answers[n.Name].Release {
		put("OS", "release", key, value)
	}
	for label, value := range n.Labels {
		if key, ok := strings.CutPrefix(label, releaseLabel); ok {
			put("OS", "release", key, value)
		}
	}
	// The kubelet reports the kernel's release, which is this file.
	put("OS", "sysctl", "/proc/sys/kernel/osrelease", n.Kernel)
	return constraint.NewSnapshot(values)
}

// model is the product of a node's GPUs as nvidia-smi prints it: of all GPUs by the DRA driver,
// otherwise of the GPU that its agent got. Different products are joined.
func (j *judge) model(n Node) string {
	gpus, _, _ := inventory.GPUsOnNode(j.published, n.Name)
	return cmp.Or(productsOf(gpus), joined(j.answers[n.Name].Products))
}

// product is the node's GPU product as GPU feature discovery prints it.
func (j *judge) product(n Node) string {
	return cmp.Or(n.Labels[productLabel], dashed(j.model(n)))
}

func (j *judge) driver(n Node) string {
	return cmp.Or(n.Labels[driverLabel], j.answers[n.Name].Driver)
}

// count is the number of GPUs that pods can get on a node and that it has: through the device plugin
// or, on a node without it, through the DRA driver.
func (j *judge) count(n Node) (allocatable, capacity int) {
	if n.Capacity > 0 || n.Allocatable > 0 {
		return n.Allocatable, n.Capacity
	}
	gpus, _, _ := inventory.GPUsOnNode(j.published, n.Name)
	return len(gpus), len(gpus)
}

// productsOf are the products of GPUs; empty if one of them has none.
func productsOf(gpus []inventory.GPU) string {
	var names []string
	for _, g := range gpus {
		if g.Product == "" {
			return ""
		}
		names = append(names, g.Product)
	}
	return joined(names)
}

func joined(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// dashed is a product's name as a label has it.
func dashed(product string) string { return strings.ReplaceAll(product, " ", "-") }
