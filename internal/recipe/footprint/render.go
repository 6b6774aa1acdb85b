package footprint

import (
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// fromRender adds the workloads of the lock for these values.
func (b *builder) fromRender(out *Component, f *Footprint, values map[string]any) {
	digest, err := ValuesDigest(values)
	if err != nil {
		b.problems = append(b.problems, rule.ValuesFile.At(componentAt(b.r, out.Name), "values of %s: %s", out.Name, err))
		return
	}
	list, ok := f.renders[digest]
	if !ok {
		b.problems = append(b.problems, rule.NotRendered.At(f.At("spec", "renders"), "the footprint of %s has no render for the values of this recipe (%.12s)", out.Name, digest).
			With("run firstlight recipe footprint update %s", out.Name))
	}
	for i := range list {
		b.rendered(out, &list[i], f)
	}
}

func (b *builder) rendered(out *Component, w *rendered, f *Footprint) {
	made := Workload{Kind: w.kind, Name: w.name, Replicas: w.replicas, Pod: w.pod.clone()}
	made.Pod.clip()
	if w.kind == daemonSet {
		made.Replicas = 0
	}
	if b.classify(&made, f, w.at) {
		out.Workloads = append(out.Workloads, made)
	}
}

// classify sets the class of a rendered workload from the footprint's entry of the same kind
// and name.
func (b *builder) classify(w *Workload, f *Footprint, at position) bool {
	if f != nil {
		for i := range f.workloads {
			if e := &f.workloads[i]; e.is(w.Kind, w.Name) && e.CreatedBy == "" {
				w.Class, w.Discovers, w.Brings = Class(e.Class), e.Discovers, slices.Clone(e.Brings)
				return true
			}
		}
	}
	b.add(rule.NoClass, at, "class is unknown")
	last := &b.problems[len(b.problems)-1]
	file := "a footprint of the component"
	if f != nil {
		file = f.Name
	}
	*last = last.With("add to workloads of %s: {kind: %s, name: %s, class: system}, or accelerated, or any", file, w.Kind, w.Name)
	return false
}
