package resolve

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Load reads a resolved recipe from a file; the tree provides the values files that it names.
// Unknown keys are ignored, because other programs write recipes too. The result has no
// origins.
func Load(t *tree.Tree, file string, data []byte) (*Result, error) {
	doc, problems := yamlstrict.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	var r model.Recipe
	problems = doc.Decode(&r).Without(diag.UnknownKey)
	if r.Kind != model.KindRecipe {
		problems = append(problems, diag.UnknownKind.At(doc.ValueAt("kind"), "invalid kind %q: must be %s", r.Kind, model.KindRecipe).
			With("give the file of a resolved recipe"))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	r.Criteria = r.Criteria.Open()
	slices.SortStableFunc(r.ComponentRefs, func(a, b model.ComponentRef) int { return cmp.Compare(a.Name, b.Name) })
	return &Result{Recipe: &r, Query: r.Criteria, Matched: map[string]bool{}, tree: t}, nil
}

// ParseCriteria reads a file of kind RecipeCriteria, or one with only the criteria.
func ParseCriteria(file string, data []byte) (criteria.Criteria, error) {
	doc, problems := yamlstrict.Parse(file, data)
	if doc == nil {
		return criteria.Criteria{}, problems
	}
	var f model.CriteriaFile
	if !doc.Has("kind") {
		problems = doc.Decode(&f.Spec)
		return f.Spec, problems.Err()
	}
	problems = doc.Decode(&f)
	if f.Kind != model.KindCriteria {
		problems = append(problems, diag.UnknownKind.At(doc.ValueAt("kind"), "invalid kind %q: must be %s", f.Kind, model.KindCriteria).
			With("write kind: %s, or only the criteria", model.KindCriteria))
	}
	return f.Spec, problems.Err()
}
