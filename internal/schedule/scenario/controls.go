package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
)

// Reasons in the scheduler's message for which controls must fail. Older schedulers append the
// taint to the first.
const (
	ReasonTaint    = "untolerated taint"
	ReasonAffinity = "didn't match Pod's node affinity/selector"
	reasonLack     = "Insufficient "
)

func (b builder) dropToleration(c *Scenario) (Control, []Node) {
	w := b.controlPod(c, DropToleration)
	w.Pod.Tolerations = nil
	var nodes []string
	for _, n := range c.Own(footprint.Accelerated) {
		if _, tainted := Untolerated(w, n.Taints); tainted {
			nodes = append(nodes, n.Name)
		}
	}
	if len(nodes) == 0 {
		return Control{Name: DropToleration, NotApplicable: "GPU nodes have no taint that keeps pods off"}, nil
	}
	return Control{Name: DropToleration, Workload: w, Nodes: nodes, Reason: ReasonTaint}, nil
}

func (b builder) halfGPUs(c *Scenario) (Control, []Node) {
	gpu := b.gpu()
	if gpu.Request < 1 {
		return Control{Name: HalfGPUs, NotApplicable: "a pod that takes the whole node asks for no GPU"}, nil
	}
	// One less than is asked for where that is no more than half of what there is.
	twin := b.twin(HalfGPUs, func(d nodeprofile.Device) int64 { return min(d.Quantity/2, d.Request-1) })
	return Control{Name: HalfGPUs, Workload: b.controlPod(c, HalfGPUs), Nodes: []string{twin.Name}, Reason: reasonLack + string(gpu.Name)}, []Node{twin}
}

func (b builder) wrongArch(c *Scenario) (Control, []Node) {
	for _, arch := range []string{"amd64", "arm64"} {
		if slices.Contains(b.nodes.Arch, arch) {
			continue
		}
		twin := b.twin(WrongArch, func(d nodeprofile.Device) int64 { return d.Quantity })
		twin.Labels[corev1.LabelArchStable] = arch
		return Control{Name: WrongArch, Workload: b.controlPod(c, WrongArch), Nodes: []string{twin.Name}, Reason: ReasonAffinity}, []Node{twin}
	}
	return Control{Name: WrongArch, NotApplicable: "the accelerator is built into hosts of every architecture"}, nil
}

func (b builder) halfGang(c *Scenario) (Control, []Node) {
	if c.Probe.Kind != Gang {
		return Control{Name: HalfGang, NotApplicable: "the recipe's intent is not training: its pods are not a gang"}, nil
	}
	half := func(d nodeprofile.Device) int64 { return max(d.Quantity/2, 1) }
	twin := b.twin(HalfGang, half)
	w := b.controlPod(c, HalfGang)
	w.Replicas = 2
	w.Pod.Requests = corev1.ResourceList{} // of GPUs alone: one reason
	for _, d := range gpusOf(b.nodes.Accelerated.Devices) {
		w.Pod.Requests[d.Name] = *resource.NewQuantity(half(d), resource.DecimalSI)
	}
	return Control{Name: HalfGang, Workload: w, Gang: true, Nodes: []string{twin.Name}, Reason: reasonLack + string(b.gpu().Name)}, []Node{twin}
}

// gpu is what the shape calls its GPUs; it has at least one such resource.
func (b builder) gpu() nodeprofile.Device { return gpusOf(b.nodes.Accelerated.Devices)[0] }

// controlPod is one pod like the probe's.
func (b builder) controlPod(c *Scenario, control string) footprint.Workload {
	return footprint.Workload{Kind: "Deployment", Name: control, Class: footprint.Accelerated, Replicas: 1, Pod: clonePod(c.Probe.Pod)}
}

// Own are the recipe's own nodes, those of controls left out; of one class, or of
// both with footprint.Any.
func (c *Scenario) Own(class footprint.Class) []Node {
	var out []Node
	for _, n := range c.Nodes {
		if n.Control == "" && (class == footprint.Any || n.Class == class) {
			out = append(out, n)
		}
	}
	return out
}
