package lint

import (
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// scheduling collects data about nodes and pods of all recipes.
type scheduling struct {
	shapes     *nodeprofile.Set
	footprints *footprint.Set
	// pods and nodes enable the checks of recipes; they require valid files in the tree itself.
	pods, nodes bool
	keys        vocabulary
	// wrong has the files with problems found by loading.
	wrong map[string]bool

	mu       sync.Mutex
	set      map[string]bool // components of recipes, and "component path" of values that recipes set
	findings map[diag.Problem][]string
}

// newScheduling loads and checks node profiles and footprints.
func newScheduling(t *tree.Tree, loaded diag.List) (*scheduling, diag.List) {
	s := &scheduling{wrong: map[string]bool{}, set: map[string]bool{}, findings: map[diag.Problem][]string{}}
	for _, p := range loaded.Errors() {
		s.wrong[p.File] = true
	}
	var wrong, out diag.List
	s.shapes, wrong = nodeprofile.Load(t)
	out = append(out, wrong...)
	own := profiles(t, s.shapes)
	s.nodes = !s.shapes.ProfilesShipped && wrong.Err() == nil && own.Without(rule.ProfileChoice, rule.UnknownAccelerator).Count(diag.Error) == own.Count(diag.Error)
	out = append(out, own...)
	s.footprints, wrong = footprint.Load(t)
	out = append(append(out, wrong...), footprints(t, s.footprints)...)
	s.pods = !s.footprints.Shipped && wrong.Err() == nil
	s.keys = newVocabulary(s.shapes, s.footprints)
	return s, append(append(out, s.brought()...), s.hardCoded()...)
}

// unreadable reports whether a file of a component is invalid; its pods are then not checked.
func (s *scheduling) unreadable(t *tree.Tree, c *model.ComponentRef) bool {
	return slices.ContainsFunc(slices.Concat(t.ValuesFiles(c), c.PreManifestFiles, c.ManifestFiles), func(file string) bool {
		file = path.Clean(file)
		return !t.Exists(file) || s.wrong[t.Name(file)]
	})
}

// recipe checks the nodes and pods of one recipe, without the components in spoiled.
func (s *scheduling) recipe(o *tree.Overlay, r *resolve.Result, spoiled map[string]bool) diag.List {
	var out diag.List
	var nodes nodeprofile.Nodes
	fits := s.nodes
	if s.nodes {
		var err error
		if nodes, err = s.shapes.Select(r.Query); err != nil {
			fits = false
			out = append(out, rule.NoProfile.At(r.Tree().Pos(o.File, "spec", "criteria"), "%s: %s", o.Name, err))
		}
	}
	if !s.pods {
		return out
	}
	e := s.footprints.Inspect(r, spoiled)
	out = append(out, e.Problems...)
	maps.Copy(e.Failed, spoiled)
	out = append(out, expected(r, e.Components, e.Failed)...)
	s.paths(r)
	s.typos(o.Name, e.Uses)
	if fits {
		s.unplaced(o.Name, r, nodes.Accelerated, e.Components)
	}
	return out
}

// find records a problem once and adds the recipe to it.
func (s *scheduling) find(recipe string, p diag.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings[p] = append(s.findings[p], recipe)
}
