package footprint

import (
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// findDuplicates reports workloads that would be the same object.
func (b *builder) findDuplicates(components []Component) {
	first := map[string]string{}
	for _, c := range components {
		for i := range c.Workloads {
			w := &c.Workloads[i]
			key := w.Kind + " " + w.Namespace + "/" + w.Name
			if other, ok := first[key]; ok {
				at := componentAt(b.r, c.Name)
				if f, ok := b.set.Get(c.Name); ok {
					at = f.lastOf(w.Kind, w.Name)
				}
				b.problems = append(b.problems, rule.DuplicateWorkload.At(at, "%s is created by both %s and %s", key, other, c.Name))
				continue
			}
			first[key] = c.Name
		}
	}
}

func (f *Footprint) lastOf(kind, name string) diag.Pos {
	for i := range slices.Backward(f.workloads) {
		if f.workloads[i].is(kind, name) {
			return f.workloads[i].at.pos("name")
		}
	}
	return f.At("spec", "workloads")
}
