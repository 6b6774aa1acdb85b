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

// Input is what a plan is made of.
type Input struct {
	Event Event
	// Names are the recipes that a dispatch asks for; none: all.
	Names []string
	// Tree is the directory of the recipes in the repository.
	Tree string
	// Head is the state that is tested, Base the one that it is compared with. Base
	// is only looked at for a pull request.
	Base, Head State
	// Checkout is the commit that is checked out when Head lies on disk, and Dirty says
	// that what lies there is not what it holds.
	Checkout string
	Dirty    bool
	// Changes are all paths of the repository that are not the same in both states; it
	// may have more. Those of the tree decide which recipes are looked at closely.
	Changes []git.Change
	// Incomparable says why nothing is known of the base: everything is selected.
	Incomparable string
	Harness      Harness
	// Classes groups recipes of the head that the scheduler can't tell apart; each must
	// be in one group, and a group's first member is tested. nil: each stands for itself.
	Classes func(head *tree.Tree, recipes []string) ([][]string, error)
	// PerShard is the most recipes of a shard, as far as MaxJobs allows; 0: PerShard.
	PerShard int
}

// ErrNoRecipe says that the tree has no recipe: that is no plan.
var ErrNoRecipe = errors.New("the tree has no recipe: there is nothing that a plan could be made of")

// Make makes the plan. It fails only for what no plan can be made of: no tree, a
// name that is not there. What can't be compared is selected.
func Make(ctx context.Context, in Input) (*Plan, error) {
	if in.Head.FS == nil {
		return nil, fmt.Errorf("there is no recipe tree at %s", in.Head.Name)
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

// choose selects what the event asks for.
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
		return fmt.Errorf("a plan for event %q can't be made", e)
	}
}

type maker struct {
	in         Input
	cache      *tree.Cache
	head, base *Loaded
	measured   map[string]Measured
}

// named selects the recipes that were asked for.
func (m *maker) named(ctx context.Context, p *Plan, names []string) (err error) {
	asked := slices.Compact(slices.Sorted(slices.Values(m.in.Names)))
	for _, name := range asked {
		if _, found := slices.BinarySearch(names, name); found {
			continue
		}
		if near := diag.Nearest(name, names); near != "" {
			return fmt.Errorf("there is no recipe %q: did you mean %s?", name, near)
		}
		return fmt.Errorf("there is no recipe %q: firstlight recipe list shows the %d that there are", name, len(names))
	}
	if m.measured, err = m.head.Measure(ctx, asked); err != nil {
		return err
	}
	for _, name := range asked {
		p.Recipes = append(p.Recipes, m.selected(name, Named, Reason{Via: ViaNamed}))
	}
	return nil
}

// selected is a recipe with its digest, and, when it is broken, with the reason.
func (m *maker) selected(name string, tier int, reasons ...Reason) Selected {
	s := Selected{Recipe: name, Tier: tier, Reasons: reasons}
	measured := m.measured[name]
	switch {
	case m.head.Err != nil:
		s.Reasons = append(s.Reasons, Reason{Via: ViaBroken, Text: "the tree can't be used: " + firstLine(m.head.Err)})
	case measured.Err != nil:
		s.Reasons = append(s.Reasons, Reason{Via: ViaBroken, Text: firstLine(measured.Err)})
	default:
		s.Digest = measured.Digest
	}
	return s
}

// finish orders and shards what is selected.
func (m *maker) finish(p *Plan) {
	m.classes(p)
	slices.SortStableFunc(p.Recipes, func(a, b Selected) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Recipe, b.Recipe))
	})
	tests := p.Tests()
	per := m.in.PerShard
	if per <= 0 {
		per = PerShard
	}
	p.Shards = shards(tests, per)
	p.NotSelected = max(0, p.Total-len(p.Recipes))
	p.HasWork = len(tests) > 0
	p.Reason = p.summary(len(tests))
	p.Digest = p.ComputeDigest()
}
