package kube

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Labels by which GPU feature discovery describes GPUs (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const (
	LabelProduct = "nvidia.com/gpu.product"
	LabelCount   = "nvidia.com/gpu.count"
)

const (
	migInProduct = "-MIG-"
	migResource  = "nvidia.com/mig-"
	labelSharing = "nvidia.com/gpu.sharing-strategy"
	// labelVGPU is that of a virtual machine whose GPUs are vGPUs: the host divides the GPU.
	labelVGPU = "nvidia.com/vgpu.present"
	// Labels of GKE's node pools: cloud.google.com/kubernetes-engine, concepts/timesharing-gpus and how-to/gpus-multi.
	labelGKESharing   = "cloud.google.com/gke-gpu-sharing-strategy"
	labelGKEClients   = "cloud.google.com/gke-max-shared-clients-per-gpu"
	labelGKEPartition = "cloud.google.com/gke-gpu-partition-size"
	// annotationHAMi has the GPUs that HAMi's device plugin offers, each count times: github.com/Project-HAMi/HAMi
	// (docs/develop/protocol.md).
	annotationHAMi = "hami.io/node-nvidia-register"
)

// Division is a property of a node that shows parts of GPUs behind its resources, instead of whole GPUs.
type Division struct {
	// MIG: the parts are MIG devices. Otherwise pods share a GPU or a MIG device, by time slicing or MPS, or virtual machines share it.
	MIG  bool   `json:"mig,omitempty"`
	What string `json:"what"`
}

// Divisions returns how the GPUs of a node are divided; empty if nothing shows it. A node without labels of
// its device plugin may not show it.
func Divisions(n *corev1.Node) []Division {
	var out []Division
	add := func(mig bool, format string, args ...any) {
		out = append(out, Division{mig, fmt.Sprintf(format, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		value := n.Labels[name]
		is := "label " + name + " is " + value
		switch {
		case strings.HasPrefix(name, "nvidia.com/") && strings.HasSuffix(name, ".replicas") && several(value),
			name == labelVGPU && value == "true",
			name == labelSharing && value != "" && value != "none",
			name == LabelProduct && strings.HasSuffix(value, "-SHARED"),
			name == labelGKESharing && value != "",
			name == labelGKEClients && several(value):
			add(false, "%s", is)
		case name == LabelProduct && strings.Contains(value, migInProduct), name == labelGKEPartition && value != "":
			add(true, "%s", is)
		}
	}
	if hami := n.Annotations[annotationHAMi]; sharedByHAMi(hami) {
		add(false, "annotation %s offers a GPU several times", annotationHAMi)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Status.Capacity)) {
		resource := string(name)
		if Count(n.Status.Capacity, resource) == 0 {
			continue
		}
		if strings.HasPrefix(resource, migResource) {
			add(true, "it offers %s", resource)
		}
		// Time slicing and MPS with renameByDefault.
		if strings.HasPrefix(resource, "nvidia.com/") && strings.HasSuffix(resource, ".shared") {
			add(false, "it offers %s", resource)
		}
	}
	// The label of replicas may be missing or stay 1: NVIDIA/k8s-device-plugin, issue 732. The capacity of a node that has
	// lost a GPU is also larger than the label, and its allocatable amount is not.
	gpus, _ := strconv.Atoi(n.Labels[LabelCount]) // absent or no number: not known
	capacity := Count(n.Status.Capacity, GPUResource)
	if _, known := n.Status.Allocatable[GPUResource]; known {
		capacity = min(capacity, Count(n.Status.Allocatable, GPUResource))
	}
	if gpus > 0 && capacity >= 2*gpus {
		add(false, "it offers %d of %s, label %s is %d", capacity, GPUResource, LabelCount, gpus)
	}
	return out
}

// several reports whether a number of replicas is not 1; 0 is that of a resource without devices.
func several(replicas string) bool { return replicas != "" && replicas != "0" && replicas != "1" }

// sharedByHAMi reports whether the registered GPUs are offered more than once each. A text that cannot be read is of
// a version before JSON, which has no other use.
func sharedByHAMi(registered string) bool {
	if registered == "" {
		return false
	}
	var gpus []struct {
		Count int `json:"count"`
	}
	if guard.JSON([]byte(registered), &gpus) != nil {
		return true
	}
	for _, g := range gpus {
		if g.Count > 1 {
			return true
		}
	}
	return false
}
