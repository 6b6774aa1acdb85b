package lint

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// footprints looks at footprints that a tree has of its own, each by itself.
func footprints(t *tree.Tree, s *footprint.Set) problem.List {
	if s.Shipped {
		return nil
	}
	var out problem.List
	names := slices.Sorted(maps.Keys(t.Components))
	for _, f := range s.Footprints {
		name := f.Metadata.Name
		if file := strings.TrimSuffix(path.Base(f.Path), ".yaml"); file != name {
			out = append(out, problem.FileName.At(f.ValueAt("metadata", "name"), "%s is in a file called %s", name, path.Base(f.Path)).
				With("rename the file: it is named like the component"))
		}
		if _, ok := t.Components[name]; !ok {
			out = append(out, problem.UnknownPart.At(f.ValueAt("metadata", "name"), "the footprint is of %s, and the registry has no such component%s", name, meant(name, names)).
				With("correct the name, or add the component to registry.yaml"))
		}
	}
	return out
}
