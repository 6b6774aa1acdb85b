package footprint

import (
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// checkPlacing checks the values that the registry names for placing pods of a rendered
// component, to report errors at the value in addition to the missing lock.
func (b *builder) checkPlacing(c *model.ComponentRef, v *values) {
	entry, ok := b.r.Tree().Components[c.Name]
	if !ok || entry.NodeScheduling == nil {
		return
	}
	for _, paths := range []*model.SchedulingPaths{entry.NodeScheduling.System, entry.NodeScheduling.Accelerated} {
		if paths == nil {
			continue
		}
		for _, text := range paths.NodeSelectorPaths {
			b.readPlaced(text, v, func(value any, at position) { b.nodeSelector(b.stringMap(value, at), at) })
		}
		for _, text := range paths.TolerationPaths {
			b.readPlaced(text, v, func(value any, at position) { b.tolerations(value, at) })
		}
	}
}

// readPlaced reads the value at a path of the registry. Callers of the registry report invalid
// paths.
func (b *builder) readPlaced(text string, v *values, read func(any, position)) {
	path, err := query.Parse(text)
	if err != nil || len(path) == 0 {
		return
	}
	if value := lookup(v.all, path); value != nil {
		read(value, v.place(path))
	}
}
