package footprint

import (
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// fromRender takes the workloads that the chart was rendered to with these values.
func (b *builder) fromRender(out *Component, f *Footprint, values map[string]any) {
	digest, err := ValuesDigest(values)
	if err != nil {
		b.problems = append(b.problems, rule.ValuesFile.At(componentAt(b.r, out.Name), "the values of %s: %s", out.Name, err))
		return
	}
	list, ok := f.renders[digest]
	if !ok {
		b.problems = append(b.problems, rule.NotRendered.At(f.At("spec", "renders"), "the chart of %s was not rendered with the values of this recipe (%.12s)", out.Name, digest).
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

// classify gives a workload that a render or a manifest has its class, by the
// footprint's entry of the same kind and name.
func (b *builder) classify(w *Workload, f *Footprint, at place) bool {
	if f != nil {
		for i := range f.workloads {
			if e := &f.workloads[i]; e.is(w.Kind, w.Name) && e.CreatedBy == "" {
				w.Class, w.Discovers, w.Brings = Class(e.Class), e.Discovers, slices.Clone(e.Brings)
				return true
			}
		}
	}
	b.add(rule.NoClass, at, "nothing says where its pods may be")
	last := &b.problems[len(b.problems)-1]
	file := "a footprint of the component"
	if f != nil {
		file = f.Name
	}
	*last = last.With("add to workloads of %s: {kind: %s, name: %s, class: system}, or accelerated, or any", file, w.Kind, w.Name)
	return false
}
