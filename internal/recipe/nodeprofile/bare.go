package nodeprofile

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Names that the GPU stack gives to what it brings.
const (
	GPUResource = "nvidia.com/gpu"
	GPUTaint    = "nvidia.com/gpu"
	gpuOperator = "gpu-operator"
	nfd         = "node-feature-discovery"
)

// bare says that a profile has no more than the keys that other tools of this field
// know: they say nothing of labels, taints and resources.
func bare(p *model.NodeProfile) bool {
	return len(p.Spec.Labels) == 0 && len(p.Spec.Taints) == 0 && len(p.Spec.ExtendedResources) == 0 && len(p.Spec.Discovered) == 0
}

// complete gives a bare profile what the recipes of this field rely on: the label
// of its type by both groups of the format, and on GPU nodes the taint, the GPUs
// that the GPU Operator brings, and the labels that discovery finds.
func complete(s *Shape, spec *model.NodeSpec) {
	kind := systemNode
	if spec.GPU != nil {
		kind = acceleratedNode
	}
	s.Labels = map[string]string{"aicr.run/node-type": kind, "aicr.nvidia.com/node-type": kind}
	if spec.GPU == nil {
		return
	}
	count := int64(spec.GPU.Count)
	s.Taints = []corev1.Taint{{Key: GPUTaint, Value: "present", Effect: corev1.TaintEffectNoSchedule}}
	s.Devices = []Device{{Name: GPUResource, Quantity: count, Request: count, Use: UseGPU, From: gpuOperator}}
	found := map[string]string{"feature.node.kubernetes.io/pci-10de.present": "true"}
	s.Discovered = map[string]map[string]string{nfd: found, gpuOperator: maps.Clone(found)}
}
