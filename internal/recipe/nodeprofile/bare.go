package nodeprofile

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Names used by the NVIDIA GPU stack.
const (
	GPUResource = "nvidia.com/gpu"
	GPUTaint    = "nvidia.com/gpu"
	gpuOperator = "gpu-operator"
	nfd         = "node-feature-discovery"
)

// isBare reports whether a profile only has the keys of the shared format, without labels,
// taints and resources.
func isBare(p *model.NodeProfile) bool {
	return len(p.Spec.Labels) == 0 && len(p.Spec.Taints) == 0 && len(p.Spec.ExtendedResources) == 0 && len(p.Spec.Discovered) == 0
}

// complete adds to a bare profile what recipes rely on: the node-type labels and, on GPU nodes,
// the taint, the GPUs of the GPU Operator, and the labels of feature discovery.
func complete(s *Node, spec *model.NodeSpec) {
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
