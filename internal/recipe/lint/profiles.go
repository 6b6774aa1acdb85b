package lint

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// profiles checks the tree's own node profiles.
func profiles(t *tree.Tree, s *nodeprofile.Set) diag.List {
	if s.ProfilesShipped {
		return nil
	}
	l := &profileLinter{t: t, set: s}
	for _, p := range s.Profiles {
		l.p = p
		l.named()
		l.gpus()
		l.taint()
		l.devices()
		l.capacity()
	}
	l.choices()
	l.unused()
	return l.problems
}

type profileLinter struct {
	t        *tree.Tree
	set      *nodeprofile.Set
	p        *nodeprofile.Profile
	problems diag.List
}

func (l *profileLinter) add(r diag.Rule, keys []string, format string, args ...any) {
	l.problems = append(l.problems, r.At(l.p.ValueAt(keys...), format, args...))
}

func (l *profileLinter) accelerated() bool { return l.p.Metadata.Labels.NodeType == "accelerated" }

// named compares the names of file and directory with the profile.
func (l *profileLinter) named() {
	if file := strings.TrimSuffix(path.Base(l.p.Path), ".yaml"); file != l.p.Metadata.Name {
		l.add(rule.FileName, []string{"metadata", "name"}, "%s is in the file %s", l.p.Metadata.Name, path.Base(l.p.Path))
	}
	dir, _, nested := strings.Cut(strings.TrimPrefix(l.p.Path, nodeprofile.Dir+"/"), "/")
	if provider := l.p.Metadata.Labels.Provider; !nested || dir != provider {
		l.add(rule.ProfileDirectory, []string{"metadata", "labels", "provider"}, "provider %s has the file %s", provider, l.p.Path)
	}
}

// gpus compares the GPUs with the accelerator's entry.
func (l *profileLinter) gpus() {
	labels, gpu := l.p.Metadata.Labels, l.p.Spec.GPU
	if labels.Accelerator == "" || gpu == nil {
		return
	}
	a, ok := l.set.Accelerator(labels.Accelerator)
	if !ok {
		var names []string
		for _, a := range l.set.AcceleratorList {
			names = append(names, a.Name)
		}
		l.add(rule.UnknownAccelerator, []string{"metadata", "labels", "accelerator"}, "%s has no accelerator %s: want one of %s%s",
			nodeprofile.AcceleratorsFile, labels.Accelerator, strings.Join(names, ", "), meant(labels.Accelerator, names))
		return
	}
	if gpu.Count > a.MaxPerNode {
		l.add(rule.GPUCount, []string{"spec", "gpu", "count"}, "%d GPUs: a node with %s has at most %d", gpu.Count, a.Name, a.MaxPerNode)
	}
	if !slices.Contains(a.Products, gpu.Product) {
		l.add(rule.GPUProduct, []string{"spec", "gpu", "product"}, "unknown product %s of %s: want one of %s%s",
			gpu.Product, a.Name, strings.Join(a.Products, ", "), meant(gpu.Product, a.Products))
	}
	if !slices.Contains(a.Arch, l.p.Spec.Arch) {
		l.add(rule.GPUArch, []string{"spec", "arch"}, "%s is not available with %s hosts: want one of %s", a.Name, l.p.Spec.Arch, strings.Join(a.Arch, ", "))
	}
}

func meant(word string, words []string) string {
	if near := diag.Nearest(word, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// taint requires the taint that keeps pods without a toleration off GPU nodes.
func (l *profileLinter) taint() {
	if !l.accelerated() {
		return
	}
	for _, t := range l.p.Node.Taints {
		if t.Key == nodeprofile.GPUTaint && t.Effect != corev1.TaintEffectPreferNoSchedule {
			return
		}
	}
	l.problems = append(l.problems, rule.GPUTaint.At(l.p.At("spec", "taints"), "%s has GPUs but no taint %s", l.p.Metadata.Name, nodeprofile.GPUTaint))
}

// devices checks the origin of extended resources and discovered labels.
func (l *profileLinter) devices() {
	gpus := int64(0)
	at := []string{"spec", "extendedResources"}
	for i, d := range l.p.Node.Devices {
		if d.Use == nodeprofile.UseGPU {
			gpus += d.Quantity
			at = []string{"spec", "extendedResources", strconv.Itoa(i), "quantity"}
		}
		if d.From != nodeprofile.FromProvider {
			l.component(d.From, []string{"spec", "extendedResources", strconv.Itoa(i), "from"}, string(d.Name)+" comes from")
		}
	}
	if gpu := l.p.Spec.GPU; gpu != nil && gpus != int64(gpu.Count) {
		l.add(rule.GPUDevice, at, "the node has %d GPUs, but pods can request %d", gpu.Count, gpus)
	}
	for _, name := range slices.Sorted(maps.Keys(l.p.Spec.Discovered)) {
		l.component(name, []string{"spec", "discovered", name}, "labels are discovered by")
	}
}

func (l *profileLinter) component(name string, keys []string, what string) {
	if _, ok := l.t.Components[name]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(l.t.Components))
	p := rule.UnknownComponent.At(l.p.At(keys...), "%s %s, which is not in the registry%s", what, name, meant(name, names))
	l.problems = append(l.problems, p.With("correct the name, or add the component to registry.yaml"))
}

// capacity compares allocatable resources with the capacity.
func (l *profileLinter) capacity() {
	for key, name := range map[string]corev1.ResourceName{
		"cpu": corev1.ResourceCPU, "memory": corev1.ResourceMemory, "storage": corev1.ResourceEphemeralStorage, "pods": corev1.ResourcePods,
	} {
		has, left := l.p.Node.Capacity[name], l.p.Node.Allocatable[name]
		if left.Cmp(has) > 0 {
			l.add(rule.Allocatable, []string{"spec", "allocatable", key}, "%s of %s is allocatable, but the node has %s", left.String(), key, has.String())
		}
	}
}
