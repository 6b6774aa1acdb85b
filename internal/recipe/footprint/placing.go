package footprint

import (
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// placing looks at the values that place the pods of a rendered component, by the
// registry: what is wrong with them is told where it is written, and not only that
// there is no lock.
func (b *builder) placing(c *model.ComponentRef, v *values) {
	entry, ok := b.r.Tree().Components[c.Name]
	if !ok || entry.NodeScheduling == nil {
		return
	}
	for _, paths := range []*model.SchedulingPaths{entry.NodeScheduling.System, entry.NodeScheduling.Accelerated} {
		if paths == nil {
			continue
		}
		for _, text := range paths.NodeSelectorPaths {
			b.placed(text, v, func(value any, at place) { b.nodeSelector(b.texts(value, at), at) })
		}
		for _, text := range paths.TolerationPaths {
			b.placed(text, v, func(value any, at place) { b.tolerations(value, at) })
		}
	}
}

// placed reads the value at a path of the registry; one that can't be read is for
// those who use the registry to say.
func (b *builder) placed(text string, v *values, read func(any, place)) {
	path, err := query.Parse(text)
	if err != nil || len(path) == 0 {
		return
	}
	if value := lookup(v.all, path); value != nil {
		read(value, v.place(path))
	}
}
