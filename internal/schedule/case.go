package schedule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/shape"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// Case is one recipe to test.
type Case struct {
	Recipe string `json:"recipe"`
	// Criteria that it was resolved for.
	Criteria criteria.Criteria `json:"criteria"`
	// Cell and its Fingerprint, when it could be made.
	Scenario    scenario.Scenario `json:"scenario"`
	Fingerprint string            `json:"fingerprint"`
	// Problems kept it from being made: then it is not put on a control plane, and
	// has failed.
	Problems diag.List `json:"problems,omitempty"`
}

// Source makes cases of a tree's recipes.
type Source struct {
	tree       *tree.Tree
	footprints *footprint.Set
	shapes     *shape.Set
}

// Open reads what cases are made of besides the tree. What is wrong with a
// footprint or a profile is a problem of every recipe that has it, so the list is
// for those that can't be read at all.
func Open(t *tree.Tree) (*Source, diag.List) {
	footprints, problems := footprint.Load(t)
	shapes, more := shape.Load(t)
	return &Source{tree: t, footprints: footprints, shapes: shapes}, append(problems, more...).Sort()
}

// Tree is the one that cases are made of.
func (s *Source) Tree() *tree.Tree { return s.tree }

// Names of all recipes that can be tested, in order.
func (s *Source) Names() []string {
	var out []string
	for _, o := range s.tree.Recipes() {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// Case makes the case of one recipe. The error is for a name that the tree does
// not have.
func (s *Source) Case(name string) (Case, error) {
	o, ok := s.tree.Overlay(name)
	if !ok || !o.Applies {
		return Case{}, fmt.Errorf("there is no recipe %s: firstlight recipe list shows those there are", name)
	}
	c := Case{Recipe: name, Criteria: o.Criteria}
	made, err := s.scenario(name, o.Criteria)
	if err != nil {
		c.Problems = problemsOf(err, s.tree.Pos(o.File, "spec", "criteria"))
	} else {
		c.Scenario, c.Fingerprint = made, scenario.Fingerprint(made)
	}
	return c, nil
}

// cell makes the cell of a recipe; the error is a diag.List where it can be.
func (s *Source) scenario(name string, q criteria.Criteria) (scenario.Scenario, error) {
	r, err := resolve.Resolve(s.tree, q, resolve.Options{})
	if err != nil {
		return scenario.Scenario{}, err
	}
	nodes, err := s.shapes.Select(q)
	if err != nil {
		return scenario.Scenario{}, err
	}
	components, problems := s.footprints.Components(r)
	if err := problems.Err(); err != nil {
		return scenario.Scenario{}, err
	}
	made, problems := scenario.Build(name, r, components, nodes)
	return made, problems.Err()
}

// problemsOf is an error as problems with a place.
func problemsOf(err error, at diag.Pos) diag.List {
	if list, ok := errors.AsType[diag.List](err); ok {
		return list.Errors()
	}
	return diag.List{diag.Contradiction.At(at, "%s", err)}
}
