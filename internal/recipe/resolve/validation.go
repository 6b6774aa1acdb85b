package resolve

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// mergeValidation merges phases by field: checks are joined, constraints merged by name, a node
// selector replaced whole.
func (d *draft) mergeValidation(v *model.Validation, l layer, keys at) {
	if d.validation == nil {
		d.validation = &model.Validation{}
	}
	for _, name := range model.PhaseNames() {
		stated := *v.Phase(name)
		if stated == nil {
			continue
		}
		have := d.validation.Phase(name)
		if *have == nil || d.compat {
			*have = &model.Phase{}
		}
		if d.compat {
			d.phaseCompat(*have, stated, l, d.at("validation", name), keys.with(name))
			continue
		}
		d.phase(*have, stated, l, d.at("validation", name), keys.with(name))
	}
}

func (d *draft) phase(have, stated *model.Phase, l layer, path, keys at) {
	d.text(&have.Timeout, stated.Timeout, l, path.with("timeout"), keys.with("timeout"))
	d.text(&have.Infrastructure, stated.Infrastructure, l, path.with("infrastructure"), keys.with("infrastructure"))
	d.join(&have.Checks, stated.Checks, l, path.with("checks"), keys.with("checks"))
	d.phaseConstraints(have, stated.Constraints, l, path.with("constraints"), keys.with("constraints"))
	if s := stated.NodeSelection; s != nil {
		d.nodes(have, s, l, path.with("nodeSelection"), keys.with("nodeSelection"))
	}
}

func (d *draft) phaseConstraints(have *model.Phase, stated []model.Constraint, l layer, path, keys at) {
	byName := map[string]*model.Constraint{}
	for i := range have.Constraints {
		byName[have.Constraints[i].Name] = &have.Constraints[i]
	}
	for i := range stated {
		d.constraint(byName, &stated[i], l, path, keys.with(index(i)))
	}
	var merged []model.Constraint
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		merged = append(merged, *byName[name])
	}
	have.Constraints = merged
}

func (d *draft) nodes(have *model.Phase, s *model.NodeSelection, l layer, path, keys at) {
	if have.NodeSelection == nil {
		have.NodeSelection = &model.NodeSelection{}
	}
	n := have.NodeSelection
	if s.Selector != nil {
		n.Selector = maps.Clone(s.Selector)
		for key, value := range s.Selector {
			d.trace.set(path.with("selector", key), l, keys.with("selector", key), value)
		}
	}
	if s.MaxNodes != 0 {
		n.MaxNodes = s.MaxNodes
		d.trace.set(path.with("maxNodes"), l, keys.with("maxNodes"), s.MaxNodes)
	}
	d.join(&n.ExcludeNodes, s.ExcludeNodes, l, path.with("excludeNodes"), keys.with("excludeNodes"))
}
