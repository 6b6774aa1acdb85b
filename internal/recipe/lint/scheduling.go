package lint

import (
	"sync"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/shape"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// scheduling is what lint knows of nodes and pods while it goes through the recipes.
type scheduling struct {
	shapes     *shape.Set
	footprints *footprint.Set
	// pods and nodes say whether each recipe is looked at: only with files of the
	// tree's own that can be used.
	pods, nodes bool
	keys        vocabulary

	mu       sync.Mutex
	set      map[string]bool // components that recipes have, and "component path" of values that they set
	findings map[problem.Problem][]string
}

// newScheduling loads what stands beside the overlays, and looks at it by itself.
func newScheduling(t *tree.Tree) (*scheduling, problem.List) {
	s := &scheduling{set: map[string]bool{}, findings: map[problem.Problem][]string{}}
	var wrong, out problem.List
	s.shapes, wrong = shape.Load(t)
	out = append(out, wrong...)
	own := profiles(t, s.shapes)
	s.nodes = !s.shapes.ProfilesShipped && wrong.Err() == nil && own.Without(problem.Defaults, problem.NoAccelerator).Count(problem.Error) == own.Count(problem.Error)
	out = append(out, own...)
	s.footprints, wrong = footprint.Load(t)
	out = append(append(out, wrong...), footprints(t, s.footprints)...)
	s.pods = !s.footprints.Shipped && wrong.Err() == nil
	s.keys = newVocabulary(s.shapes, s.footprints)
	return s, append(append(out, s.brought()...), s.hardCoded()...)
}

// recipe looks at one recipe's nodes and pods.
func (s *scheduling) recipe(o *tree.Overlay, r *resolve.Result) problem.List {
	var out problem.List
	var nodes shape.Nodes
	fits := s.nodes
	if s.nodes {
		var err error
		if nodes, err = s.shapes.Select(r.Query); err != nil {
			fits = false
			out = append(out, problem.NoProfile.At(r.Tree().Pos(o.File, "spec", "criteria"), "%s: %s", o.Name, err))
		}
	}
	if !s.pods {
		return out
	}
	e := s.footprints.Examine(r)
	out = append(out, e.Problems...)
	out = append(out, expected(r, e.Components)...)
	s.paths(r)
	s.typos(o.Name, e.Uses)
	if fits {
		s.unplaced(o.Name, nodes.Accelerated, e.Components)
	}
	return out
}

// find keeps a problem that several recipes may have, once.
func (s *scheduling) find(recipe string, p problem.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings[p] = append(s.findings[p], recipe)
}
