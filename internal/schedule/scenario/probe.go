package scenario

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
)

// ProductLabel is what GPU feature discovery calls the GPUs of a node.
const ProductLabel = "nvidia.com/gpu.product"

// intentTraining is the intent whose pods are of use only all together.
const intentTraining = "training"

// probe is a pod on each GPU node that takes all of it: a gang for training,
// replicas for inference and where the intent is open.
func (b builder) probe() Probe {
	s := b.nodes.Accelerated
	p := Probe{Kind: Replicas, Size: int32(s.Count), Pod: footprint.Pod{ //nolint:gosec // a number of nodes
		NodeSelector: maps.Clone(b.nodes.WorkloadSelector),
		Tolerations:  b.tolerations(),
		Affinity:     term(b.requirements()...),
		Requests:     corev1.ResourceList{},
	}}
	if b.intent == intentTraining {
		p.Kind = Gang
	}
	for _, d := range s.Devices {
		// A workload without GPUs cannot run; without fabric it is slower, which a recipe that
		// has no component for it accepts.
		if d.Use == nodeprofile.UseGPU || b.present[d.From] {
			p.Pod.Requests[d.Name] = *resource.NewQuantity(d.Request, resource.DecimalSI)
		}
	}
	return p
}

// requirements are of the accelerator, by accelerators.yaml: a profile of another
// architecture or product must not fit.
func (b builder) requirements() []corev1.NodeSelectorRequirement {
	out := []corev1.NodeSelectorRequirement{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: slices.Clone(b.nodes.Arch)}}
	if len(b.nodes.Products) > 0 && b.findsGPUs() {
		out = append(out, corev1.NodeSelectorRequirement{Key: ProductLabel, Operator: corev1.NodeSelectorOpIn, Values: slices.Clone(b.nodes.Products)})
	}
	return out
}

// findsGPUs says whether the component that brings the GPUs discovers what they are.
func (b builder) findsGPUs() bool {
	for _, d := range gpusOf(b.nodes.Accelerated.Devices) {
		for _, c := range b.components {
			if c.Name == d.From && slices.ContainsFunc(c.Workloads, func(w footprint.Workload) bool { return w.Discovers }) {
				return true
			}
		}
	}
	return false
}

// tolerations are those of workloads; that of the GPU taint is always among them.
func (b builder) tolerations() []corev1.Toleration {
	gpu := corev1.Toleration{Key: nodeprofile.GPUTaint, Operator: corev1.TolerationOpExists}
	out := slices.Clone(b.nodes.WorkloadTolerations)
	if !slices.Contains(out, gpu) {
		out = append([]corev1.Toleration{gpu}, out...)
	}
	return out
}
