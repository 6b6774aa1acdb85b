package impact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Input is the input of Make.
type Input struct {
	Event Event
	// Names are the recipes that a dispatch selects; none selects all.
	Names []string
	// Tree is the recipe directory in the repository.
	Tree string
	// Head is the state to test, Base the state to compare it with. Only pull requests use
	// Base.
	Base, Head State
	// If Head is the working tree, Checkout is the commit that is checked out, and Dirty is set
	// if the working tree differs from it.
	Checkout string
	Dirty    bool
	// Changes has all paths of the repository that differ, and possibly more. Those of the tree
	// determine the candidates.
	Changes []git.Change
	// Incomparable is the reason why the base is unknown; if set, everything is selected.
	Incomparable string
	Harness      Harness
	// Classes groups recipes of the head that the scheduler cannot distinguish. Each recipe
	// must be in exactly one group; the first member of a group is tested. nil: every recipe is
	// tested.
	Classes func(head *tree.Tree, recipes []string) ([][]string, error)
	// PerShard is the maximum number of recipes of a shard, as far as MaxJobs allows; 0:
	// DefaultPerShard.
	PerShard int
}

// ErrNoRecipe means that the tree has no recipe; an empty plan would look like success.
var ErrNoRecipe = errors.New("the tree has no recipes: cannot make a plan")

// Make makes the plan. It fails if there is no tree, no recipe or no recipe of a given name. If
// no comparison is possible, everything is selected.
func Make(ctx context.Context, in Input) (*Plan, error) {
	if in.Head.FS == nil {
		return nil, fmt.Errorf("no recipe tree at %s", in.Head.Name)
	}
	m := &maker{in: in, cache: &tree.Cache{}}
	m.head = Load(in.Head, m.cache)
	names := m.head.Names()
	p := &Plan{
		Event: in.Event, Tree: in.Tree, Harness: in.Harness, Total: len(names),
		Head: Revision{Name: in.Head.Name, Commit: in.Head.Commit, Dirty: in.Dirty}, Recipes: []Selected{},
	}
	if err := m.choose(ctx, p, names); err != nil {
		return nil, err
	}
	if p.Total == 0 && len(p.Recipes) == 0 {
		return nil, errors.Join(ErrNoRecipe, m.head.Err)
	}
	m.finish(p)
	return p, nil
}

func (m *maker) choose(ctx context.Context, p *Plan, names []string) (err error) {
	switch e := m.in.Event; {
	case e == PullRequest:
		p.Base = Revision{Name: m.in.Base.Name, Commit: m.in.Base.Commit}
		return m.affected(ctx, p, names)
	case e == Dispatch && len(m.in.Names) > 0:
		return m.named(ctx, p, names)
	case e == Dispatch || e.everything():
		if m.measured, err = m.head.Measure(ctx, names); err != nil {
			return err
		}
		for _, name := range names {
			p.Recipes = append(p.Recipes, m.selected(name, All, Reason{Via: ViaEvent, Text: string(e)}))
		}
		return nil
	default:
		return fmt.Errorf("cannot make a plan for event %q", e)
	}
}

type maker struct {
	in         Input
	cache      *tree.Cache
	head, base *Loaded
	measured   map[string]Measured
}

func (m *maker) named(ctx context.Context, p *Plan, names []string) (err error) {
	asked := slices.Compact(slices.Sorted(slices.Values(m.in.Names)))
	for _, name := range asked {
		if _, found := slices.BinarySearch(names, name); found {
			continue
		}
		if near := diag.Nearest(name, names); near != "" {
			return fmt.Errorf("recipe %q not found: did you mean %s?", name, near)
		}
		return fmt.Errorf("recipe %q not found: firstlight recipe list prints the %d recipes", name, len(names))
	}
	if m.measured, err = m.head.Measure(ctx, asked); err != nil {
		return err
	}
	for _, name := range asked {
		p.Recipes = append(p.Recipes, m.selected(name, Named, Reason{Via: ViaNamed}))
	}
	return nil
}

// selected returns a recipe with its digest or, if it is broken, the reason.
func (m *maker) selected(name string, tier int, reasons ...Reason) Selected {
	s := Selected{Recipe: name, Tier: tier, Reasons: reasons}
	measured := m.measured[name]
	switch {
	case m.head.Err != nil:
		s.Reasons = append(s.Reasons, Reason{Via: ViaBroken, Text: "the recipe tree is invalid: " + firstLine(m.head.Err)})
	case measured.Err != nil:
		s.Reasons = append(s.Reasons, Reason{Via: ViaBroken, Text: firstLine(measured.Err)})
	default:
		s.Digest = measured.Digest
	}
	return s
}

func (m *maker) finish(p *Plan) {
	m.classes(p)
	slices.SortStableFunc(p.Recipes, func(a, b Selected) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Recipe, b.Recipe))
	})
	tests := p.Tests()
	per := m.in.PerShard
	if per <= 0 {
		per = DefaultPerShard
	}
	p.Shards = shards(tests, per)
	p.NotSelected = max(0, p.Total-len(p.Recipes))
	p.HasWork = len(tests) > 0
	p.Reason = p.summary(len(tests))
	p.Digest = p.ComputeDigest()
}
