package schedule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// Case is one recipe to test.
type Case struct {
	Recipe string `json:"recipe"`
	// Criteria that the recipe was resolved for.
	Criteria criteria.Criteria `json:"criteria"`
	// Scenario and its Fingerprint; empty where there are Problems.
	Scenario    scenario.Scenario `json:"scenario"`
	Fingerprint string            `json:"fingerprint"`
	// Problems that prevent a scenario: the case fails without a control plane.
	Problems diag.List `json:"problems,omitempty"`
}

func (c Case) member() Member { return Member{c.Recipe, c.Fingerprint} }

// Source builds cases from a tree's recipes.
type Source struct {
	tree       *tree.Tree
	footprints *footprint.Set
	shapes     *nodeprofile.Set
}

// Open reads the footprints and node profiles of a tree. The list has only problems of
// unreadable files; other problems are reported for every recipe that they affect.
func Open(t *tree.Tree) (*Source, diag.List) {
	footprints, problems := footprint.Load(t)
	shapes, more := nodeprofile.Load(t)
	return &Source{tree: t, footprints: footprints, shapes: shapes}, append(problems, more...).Sort()
}

// Tree is the recipe tree.
func (s *Source) Tree() *tree.Tree { return s.tree }

// Names of all testable recipes, in order.
func (s *Source) Names() []string {
	var out []string
	for _, o := range s.tree.Recipes() {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}

// Case builds the case of one recipe. The error reports an unknown name.
func (s *Source) Case(name string) (Case, error) {
	o, ok := s.tree.Overlay(name)
	if !ok || !o.Applies {
		return Case{}, fmt.Errorf("recipe %q not found: firstlight recipe list shows all recipes", name)
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

// scenario builds the scenario of a recipe; the error is a diag.List where possible.
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

// problemsOf converts an error to problems with a position.
func problemsOf(err error, at diag.Pos) diag.List {
	if list, ok := errors.AsType[diag.List](err); ok {
		return list.Errors()
	}
	return diag.List{rule.BaseCriteria.At(at, "%s", err)}
}
