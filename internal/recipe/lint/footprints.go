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

// footprints checks the tree's own footprints.
func footprints(t *tree.Tree, s *footprint.Set) diag.List {
	if s.Shipped {
		return nil
	}
	var out diag.List
	names := slices.Sorted(maps.Keys(t.Components))
	for _, f := range s.Footprints {
		name := f.Metadata.Name
		if file := strings.TrimSuffix(path.Base(f.Path), ".yaml"); file != name {
			out = append(out, rule.FileName.At(f.ValueAt("metadata", "name"), "%s is in the file %s", name, path.Base(f.Path)).
				With("give the file the name of the component"))
		}
		if _, ok := t.Components[name]; !ok {
			out = append(out, rule.UnknownComponent.At(f.ValueAt("metadata", "name"), "component %s of the footprint is not in the registry%s", name, meant(name, names)).
				With("correct the name, or add the component to registry.yaml"))
		}
	}
	return out
}

// brought reports devices in profiles that no workload of their component provides.
func (s *scheduling) brought() diag.List {
	if s.footprints.Shipped || s.shapes.ProfilesShipped {
		return nil
	}
	var out diag.List
	for _, p := range s.shapes.Profiles {
		for i, d := range p.Spec.ExtendedResources {
			f, ok := s.footprints.Get(d.From)
			if !ok {
				continue // another rule reports the missing footprint
			}
			var brings []string
			for j := range f.Spec.Workloads {
				brings = append(brings, f.Spec.Workloads[j].Brings...)
			}
			if slices.Contains(brings, d.Name) {
				continue
			}
			at := func(key string) diag.Pos { return p.ValueAt("spec", "extendedResources", strconv.Itoa(i), key) }
			wrong := rule.DeviceSource.At(at("from"), "%s is attributed to %s, but no workload of %s provides it", d.Name, d.From, f.Name)
			if near := diag.Nearest(d.Name, brings); near != "" {
				wrong.Pos = at("name")
				wrong = wrong.With("did you mean %s?", near)
			} else if len(brings) > 0 {
				wrong = wrong.With("correct from, or the name: %s provides %s", d.From, strings.Join(brings, ", "))
			}
			out = append(out, wrong)
		}
	}
	return out
}
