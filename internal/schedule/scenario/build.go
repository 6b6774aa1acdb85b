package scenario

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// Build builds the scenario of a recipe: its nodes, the pods of its components, the GPU
// workload of its intent and the controls. Pods that do not fit are not a problem; only
// inputs without nodes or pods are.
func Build(recipe string, r *resolve.Result, components []footprint.Component, nodes nodeprofile.Nodes) (Scenario, diag.List) {
	problems := slices.Concat(wrongShapes(nodes), wrongComponents(components))
	if problems.Err() != nil {
		return Scenario{}, problems.Sort()
	}
	b := builder{intent: r.Query.Intent, components: components, nodes: nodes, present: map[string]bool{nodeprofile.FromProvider: true}}
	for _, c := range components {
		b.present[c.Name] = true
	}
	c := Scenario{
		Recipe:     recipe,
		Nodes:      slices.Concat(b.expand(nodes.System, footprint.System, "system"), b.expand(nodes.Accelerated, footprint.Accelerated, "gpu")),
		Components: components,
		Probe:      b.probe(),
		Advice:     advice(r, components),
	}
	for _, of := range []func(*Scenario) (Control, []Node){b.dropToleration, b.dropSelector, b.halfGPUs, b.wrongArch, b.halfGang} {
		control, twins := of(&c)
		c.Controls = append(c.Controls, control)
		c.Nodes = append(c.Nodes, twins...)
	}
	return c, problems.Sort()
}

// builder holds what nodes, probe and controls are made of.
type builder struct {
	intent     string
	components []footprint.Component
	nodes      nodeprofile.Nodes
	// present are the components of the recipe, and the provider.
	present map[string]bool
}

func wrongShapes(nodes nodeprofile.Nodes) diag.List {
	var out diag.List
	for what, s := range map[string]*nodeprofile.Node{"system": nodes.System, "GPU": nodes.Accelerated} {
		switch {
		case s == nil:
			out = append(out, rule.NoProfile.At(diag.Pos{}, "no profile for the recipe's %s nodes", what))
		case s.Count < 1:
			out = append(out, diag.BadValue.At(diag.Pos{File: s.File}, "invalid count %[2]d of %[1]s: must be at least 1", s.Name, s.Count))
		}
	}
	if s := nodes.Accelerated; s != nil {
		if gpus := gpusOf(s.Devices); len(gpus) == 0 {
			out = append(out, rule.GPUDevice.At(diag.Pos{File: s.File}, "%s has no extended resource with use: gpu: pods cannot request its GPUs", s.Name))
		}
		if len(nodes.Arch) == 0 {
			out = append(out, rule.UnknownAccelerator.At(diag.Pos{File: s.File}, "unknown architecture of %s", s.Accelerator))
		}
	}
	return out
}

func wrongComponents(components []footprint.Component) diag.List {
	var out diag.List
	seen := map[string]bool{}
	for _, c := range components {
		if seen[c.Name] {
			out = append(out, rule.DuplicateEntry.At(diag.Pos{File: c.File}, "duplicate component %s in the recipe", c.Name))
		}
		seen[c.Name] = true
		for _, w := range c.Workloads {
			id := c.Name + "/" + w.Kind + "/" + w.Name
			if seen[id] {
				out = append(out, rule.DuplicateWorkload.At(diag.Pos{File: c.File}, "%s has two workloads %s %s", c.Name, w.Kind, w.Name))
			}
			seen[id] = true
			if w.Discovers && w.Kind != DaemonSet {
				out = append(out, rule.FootprintShape.At(diag.Pos{File: c.File}, "invalid discovers of %s %s of %s: must be a DaemonSet", w.Kind, w.Name, c.Name))
			}
		}
	}
	return out
}

func gpusOf(devices []nodeprofile.Device) []nodeprofile.Device {
	var out []nodeprofile.Device
	for _, d := range devices {
		if d.Use == nodeprofile.UseGPU {
			out = append(out, d)
		}
	}
	return out
}

// advice returns, by component, the settings that select the nodes of its pods.
func advice(r *resolve.Result, components []footprint.Component) map[string]Advice {
	out := map[string]Advice{}
	for _, c := range components {
		a := Advice{Footprint: c.File}
		if t := r.Tree(); t != nil {
			if entry, ok := t.Components[c.Name]; ok && entry.NodeScheduling != nil {
				a.Selectors, a.Tolerations = map[footprint.Class][]string{}, map[footprint.Class][]string{}
				if s := entry.NodeScheduling.System; s != nil {
					a.Selectors[footprint.System], a.Tolerations[footprint.System] = slices.Clone(s.NodeSelectorPaths), slices.Clone(s.TolerationPaths)
				}
				if s := entry.NodeScheduling.Accelerated; s != nil {
					a.Selectors[footprint.Accelerated], a.Tolerations[footprint.Accelerated] = slices.Clone(s.NodeSelectorPaths), slices.Clone(s.TolerationPaths)
				}
			}
		}
		if a.Footprint != "" || len(a.Selectors)+len(a.Tolerations) > 0 {
			out[c.Name] = a
		}
	}
	return out
}

// term is the required node affinity of one term.
func term(expressions ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: expressions}},
	}}}
}

func clonePod(p footprint.Pod) footprint.Pod {
	p.Labels, p.NodeSelector = maps.Clone(p.Labels), maps.Clone(p.NodeSelector)
	p.Affinity = p.Affinity.DeepCopy()
	p.Tolerations = slices.Clone(p.Tolerations)
	p.TopologySpreadConstraints = slices.Clone(p.TopologySpreadConstraints)
	p.Requests = p.Requests.DeepCopy()
	p.HostPorts = slices.Clone(p.HostPorts)
	return p
}
