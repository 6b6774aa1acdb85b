package lint

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// footprints looks at footprints that a tree has of its own, each by itself.
func footprints(t *tree.Tree, s *footprint.Set) diag.List {
	if s.Shipped {
		return nil
	}
	var out diag.List
	names := slices.Sorted(maps.Keys(t.Components))
	for _, f := range s.Footprints {
		name := f.Metadata.Name
		if file := strings.TrimSuffix(path.Base(f.Path), ".yaml"); file != name {
			out = append(out, rule.FileName.At(f.ValueAt("metadata", "name"), "%s is in a file called %s", name, path.Base(f.Path)).
				With("rename the file: it is named like the component"))
		}
		if _, ok := t.Components[name]; !ok {
			out = append(out, rule.UnknownComponent.At(f.ValueAt("metadata", "name"), "the footprint is of %s, and the registry has no such component%s", name, meant(name, names)).
				With("correct the name, or add the component to registry.yaml"))
		}
	}
	return out
}

// brought finds devices of profiles that the component which they are said to come
// from does not bring.
func (s *scheduling) brought() diag.List {
	if s.footprints.Shipped || s.shapes.ProfilesShipped {
		return nil
	}
	var out diag.List
	for _, p := range s.shapes.Profiles {
		for i, d := range p.Spec.ExtendedResources {
			f, ok := s.footprints.Get(d.From)
			if !ok {
				continue // of what has no footprint nobody knows; that is told elsewhere
			}
			var brings []string
			for j := range f.Spec.Workloads {
				brings = append(brings, f.Spec.Workloads[j].Brings...)
			}
			if slices.Contains(brings, d.Name) {
				continue
			}
			at := func(key string) diag.Pos { return p.ValueAt("spec", "extendedResources", strconv.Itoa(i), key) }
			wrong := rule.DeviceSource.At(at("from"), "%s comes from %s, and no workload of %s brings it", d.Name, d.From, f.Name)
			if near := diag.Nearest(d.Name, brings); near != "" {
				wrong.Pos = at("name")
				wrong = wrong.With("did you mean %s?", near)
			} else if len(brings) > 0 {
				wrong = wrong.With("correct from, or the name: %s brings %s", d.From, strings.Join(brings, ", "))
			}
			out = append(out, wrong)
		}
	}
	return out
}
