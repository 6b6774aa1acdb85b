package nodeprofile

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Types of nodes.
const (
	systemNode      = "system"
	acceleratedNode = "accelerated"
)

// How many nodes a test makes where the profile does not say: a gang needs several
// GPU nodes, and two system nodes are what replicas that refuse to share one need.
const (
	acceleratedCount = 4
	systemCount      = 2
)

// parse makes a shape of a file; nil where it is no profile.
func parse(f tree.Asset) (*Profile, diag.List) {
	p := &Profile{Asset: f, NodeProfile: &model.NodeProfile{}}
	of, problems := f.Decode(model.KindNodeProfile, p.NodeProfile)
	if !of {
		return nil, problems
	}
	r := reader{f: &p.Asset, problems: problems}
	p.Shape = r.shape(p.NodeProfile)
	return p, r.problems
}

// reader collects problems of one file.
type reader struct {
	f        *tree.Asset
	problems diag.List
}

func (r *reader) add(rule diag.Rule, keys []string, format string, args ...any) {
	r.problems = append(r.problems, rule.At(r.f.ValueAt(keys...), format, args...))
}

func (r *reader) shape(p *model.NodeProfile) *Shape {
	spec := &p.Spec
	s := &Shape{
		Name: p.Metadata.Name, File: r.f.Name, Digest: r.f.Digest,
		Provider: p.Metadata.Labels.Provider, Accelerator: p.Metadata.Labels.Accelerator,
		InstanceType: spec.InstanceType, Arch: spec.Arch,
		Count: spec.Count, Region: spec.Region, Zones: slices.Clone(spec.Zones),
		Labels: maps.Clone(spec.Labels), Discovered: map[string]map[string]string{},
	}
	r.consistent(p)
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
	if bare(p) {
		complete(s, spec)
	}
	found(s, spec.GPU)
	return s
}

// consistent holds the labels that choose the profile against what it has.
func (r *reader) consistent(p *model.NodeProfile) {
	l, keys := p.Metadata.Labels, []string{"metadata", "labels", "accelerator"}
	switch {
	case l.NodeType == acceleratedNode && l.Accelerator == "":
		r.add(rule.ProfileLabels, keys, "%s is accelerated, and does not say by which accelerator", p.Metadata.Name)
	case l.NodeType == acceleratedNode && p.Spec.GPU == nil:
		r.add(rule.ProfileLabels, []string{"spec"}, "%s is accelerated, and has no gpu", p.Metadata.Name)
	case l.NodeType == systemNode && l.Accelerator != "":
		r.add(rule.ProfileLabels, keys, "%s is a system node, and has the accelerator %s", p.Metadata.Name, l.Accelerator)
	case l.NodeType == systemNode && p.Spec.GPU != nil:
		r.add(rule.ProfileLabels, []string{"spec", "gpu"}, "%s is a system node, and has GPUs", p.Metadata.Name)
	}
	if l.NodeType == systemNode && l.Generic != "" {
		r.add(rule.ProfileLabels, []string{"metadata", "labels", "generic"}, "generic chooses among GPU nodes, and %s is a system node", p.Metadata.Name)
	}
}

// resources are capacity and allocatable.
func (r *reader) resources(spec *model.NodeSpec) (capacity, allocatable corev1.ResourceList) {
	capacity, allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	for _, f := range resourceFields {
		have := f.of(&spec.Resources)
		if have == "" {
			have = f.usual
		}
		if have == "" {
			r.add(diag.Missing, []string{"spec", "resources"}, "the key %q is missing: a node has some %s", f.key, f.key)
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
	{"storage", corev1.ResourceEphemeralStorage, func(r *model.NodeResources) string { return r.Storage }, "100Gi"}, // of the same format's own nodes
	{"pods", corev1.ResourcePods, func(r *model.NodeResources) string { return r.Pods }, "110"},                     // maxPods of a kubelet that is not told otherwise
}
