package nodeprofile

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

const (
	systemNode      = "system"
	acceleratedNode = "accelerated"
)

// Default numbers of nodes: a gang needs several GPU nodes, and replicas with anti-affinity
// need two system nodes.
const (
	acceleratedCount = 4
	systemCount      = 2
)

// parse returns nil if the file is not a node profile.
func parse(f tree.Asset) (*Profile, diag.List) {
	p := &Profile{Asset: f, NodeProfile: &model.NodeProfile{}}
	of, problems := f.Decode(model.KindNodeProfile, p.NodeProfile)
	if !of {
		return nil, problems
	}
	r := reader{f: &p.Asset, problems: problems}
	p.Node = r.node(p.NodeProfile)
	return p, r.problems
}

type reader struct {
	f        *tree.Asset
	problems diag.List
}

func (r *reader) add(rule diag.Rule, keys []string, format string, args ...any) {
	r.problems = append(r.problems, rule.At(r.f.ValueAt(keys...), format, args...))
}

func (r *reader) node(p *model.NodeProfile) *Node {
	spec := &p.Spec
	s := &Node{
		Name: p.Metadata.Name, File: r.f.Name, Digest: r.f.Digest,
		Provider: p.Metadata.Labels.Provider, Accelerator: p.Metadata.Labels.Accelerator,
		InstanceType: spec.InstanceType, Arch: spec.Arch,
		Count: spec.Count, Region: spec.Region, Zones: slices.Clone(spec.Zones),
		Labels: maps.Clone(spec.Labels), Discovered: map[string]map[string]string{},
	}
	r.checkLabels(p)
	if s.Count == 0 {
		s.Count = systemCount
		if p.Metadata.Labels.NodeType == acceleratedNode {
			s.Count = acceleratedCount
		}
	}
	s.Capacity, s.Allocatable = r.resources(spec)
	r.labels(s.Labels, "spec", "labels")
	for component, labels := range spec.Discovered {
		s.Discovered[component] = maps.Clone(labels)
		r.labels(labels, "spec", "discovered", component)
	}
	s.Taints = r.taints(spec.Taints)
	s.Devices = r.devices(spec.ExtendedResources)
	if isBare(p) {
		complete(s, spec)
	}
	addDiscoveredGPU(s, spec.GPU)
	return s
}

// checkLabels compares the labels that select the profile with its spec.
func (r *reader) checkLabels(p *model.NodeProfile) {
	l, keys := p.Metadata.Labels, []string{"metadata", "labels", "accelerator"}
	switch {
	case l.NodeType == acceleratedNode && l.Accelerator == "":
		r.add(rule.ProfileLabels, keys, "accelerated profile %s must have an accelerator label", p.Metadata.Name)
	case l.NodeType == acceleratedNode && p.Spec.GPU == nil:
		r.add(rule.ProfileLabels, []string{"spec"}, "accelerated profile %s must have spec.gpu", p.Metadata.Name)
	case l.NodeType == systemNode && l.Accelerator != "":
		r.add(rule.ProfileLabels, keys, "system profile %s must not have the accelerator %s", p.Metadata.Name, l.Accelerator)
	case l.NodeType == systemNode && p.Spec.GPU != nil:
		r.add(rule.ProfileLabels, []string{"spec", "gpu"}, "system profile %s must not have GPUs", p.Metadata.Name)
	}
	if l.NodeType == systemNode && l.Generic != "" {
		r.add(rule.ProfileLabels, []string{"metadata", "labels", "generic"}, "system profile %s must not have the label generic, which selects among GPU nodes", p.Metadata.Name)
	}
}

func (r *reader) resources(spec *model.NodeSpec) (capacity, allocatable corev1.ResourceList) {
	capacity, allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	for _, f := range resourceFields {
		have := cmp.Or(f.of(&spec.Resources), f.usual)
		if have == "" {
			r.add(diag.Missing, []string{"spec", "resources"}, "missing key %q: a node must have %s", f.key, f.key)
			continue
		}
		q, ok := r.quantity(have, "spec", "resources", f.key)
		if !ok {
			continue
		}
		capacity[f.name], allocatable[f.name] = q, q
		if left := f.of(&spec.Allocatable); left != "" {
			if q, ok := r.quantity(left, "spec", "allocatable", f.key); ok {
				allocatable[f.name] = q
			}
		}
	}
	return capacity, allocatable
}

var resourceFields = []struct {
	key   string
	name  corev1.ResourceName
	of    func(*model.NodeResources) string
	usual string
}{
	{"cpu", corev1.ResourceCPU, func(r *model.NodeResources) string { return r.CPU }, ""},
	{"memory", corev1.ResourceMemory, func(r *model.NodeResources) string { return r.Memory }, ""},
	{"storage", corev1.ResourceEphemeralStorage, func(r *model.NodeResources) string { return r.Storage }, "100Gi"}, // default of the format's own nodes
	{"pods", corev1.ResourcePods, func(r *model.NodeResources) string { return r.Pods }, "110"},                     // default maxPods of the kubelet
}
