package lint

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Report has all problems of a tree.
type Report struct {
	Tree string `json:"tree"`
	tree.Stats
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Problems diag.List `json:"problems"`
}

// broken are the rules that prevent resolving; further problems would be consequences.
var broken = []diag.Rule{
	diag.Unreadable, diag.Syntax, diag.Document, diag.UnknownKind, rule.NoBase, rule.DuplicateName,
	rule.MissingParent, rule.BaseCycle, rule.UnknownMixin, diag.FileExtension,
}

// Run runs every rule. loaded are the problems found by loading the tree; more are additional
// rules.
func Run(t *tree.Tree, loaded diag.List, more ...func(*tree.Tree) diag.List) Report {
	problems := slices.Clone(loaded)
	for _, find := range more {
		problems = append(problems, find(t)...)
	}
	problems = append(problems, files(t)...)
	sched, beside := newScheduling(t, loaded)
	problems = append(problems, beside...)
	if len(loaded.Errors().Without(broken...)) == len(loaded.Errors()) {
		problems = append(problems, recipes(t, sched)...)
	}
	problems = problems.Sort()
	if problems == nil {
		problems = diag.List{}
	}
	return Report{
		Tree: t.Label, Stats: t.Stats(), Problems: problems,
		Errors: problems.Count(diag.Error), Warnings: problems.Count(diag.Warning), Notes: problems.Count(diag.Note),
	}
}

// recipes resolves all recipes in parallel.
func recipes(t *tree.Tree, s *scheduling) diag.List {
	asked := t.Recipes()
	found := make([]diag.List, len(asked))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(asked)) {
		wg.Go(func() {
			for i := range next {
				found[i] = recipe(t, s, asked[i])
			}
		})
	}
	for i := range asked {
		next <- i
	}
	close(next)
	wg.Wait()
	return append(slices.Concat(found...), s.found()...)
}

// recipe resolves one recipe with each value of its profile.
func recipe(t *tree.Tree, s *scheduling, o *tree.Overlay) diag.List {
	r, problems := variant(t, s, o, "")
	if r == nil {
		return problems
	}
	for _, profile := range r.Profiles {
		_, more := variant(t, s, o, profile)
		problems = append(problems, more...)
	}
	return problems
}

// variant resolves a recipe and checks the result.
func variant(t *tree.Tree, s *scheduling, o *tree.Overlay, profile string) (*resolve.Result, diag.List) {
	r, err := resolve.Resolve(t, o.Criteria, resolve.Options{Explain: true, Profile: profile})
	if list, ok := errors.AsType[diag.List](err); ok {
		return nil, list
	}
	if err != nil { // a recipe's own criteria are always covered
		return nil, diag.List{rule.BaseCriteria.At(t.Pos(o.File, "spec", "criteria"), "%s", err)}
	}
	problems := append(slices.Clone(r.Warnings), r.Ties()...)
	spoiled := map[string]bool{}
	for i := range r.ComponentRefs {
		if c := &r.ComponentRefs[i]; c.Enabled() {
			wrong := deployable(r, c)
			problems = append(problems, wrong...)
			spoiled[c.Name] = wrong.Err() != nil || s.unreadable(t, c)
		}
	}
	maps.DeleteFunc(spoiled, func(_ string, is bool) bool { return !is })
	return r, append(problems, s.recipe(o, r, spoiled)...)
}
