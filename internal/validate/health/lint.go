package health

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Usable is an error when the assertions of a component cannot be used.
func Usable(components []Component) error {
	var wrong []error
	for _, c := range components {
		if err := load(c).err; err != nil {
			wrong = append(wrong, fmt.Errorf("the health check of %s cannot be used: %w", c.Name, err))
		}
	}
	return errors.Join(wrong...)
}

// Lint finds the problems of a tree's recipes that fail a validation without a cluster:
// invalid assertions and components without assertions.
func Lint(t *tree.Tree) diag.List {
	l := linter{t: t, used: map[string]diag.Pos{}, own: map[string]bool{}}
	for _, o := range append([]*tree.Overlay{t.Base}, t.Overlays...) {
		l.refs(o.File, o.Spec.ComponentRefs)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Mixins)) {
		l.refs(t.Mixins[name].File, t.Mixins[name].Spec.ComponentRefs)
	}
	for _, name := range slices.Sorted(maps.Keys(l.used)) {
		l.registered(name)
	}
	return l.problems.Sort()
}

type linter struct {
	t *tree.Tree
	// used is the position of the first reference to each component; own is true if an
	// overlay has assertions for it.
	used     map[string]diag.Pos
	own      map[string]bool
	problems diag.List
}

func (l *linter) refs(file string, refs []model.ComponentRef) {
	for i := range refs {
		ref := &refs[i]
		at := func(key string) diag.Pos { return l.t.ValuePos(file, "spec", "componentRefs", strconv.Itoa(i), key) }
		if _, known := l.used[ref.Name]; !known {
			l.used[ref.Name] = at("name")
		}
		if ref.HealthCheckSkip != nil && *ref.HealthCheckSkip {
			l.problems = append(l.problems, rule.NoHealthCheck.At(at("healthCheckSkip"), "the health check of %s is skipped: a validation fails", ref.Name))
		}
		if ref.HealthCheckAsserts == "" {
			continue
		}
		l.own[ref.Name] = true
		name := "healthCheckAsserts of " + ref.Name
		for _, p := range problemsOf(Component{Name: ref.Name, Namespace: ref.Namespace, File: name, Asserts: ref.HealthCheckAsserts}) {
			p.Message = p.Pos.String() + ": " + p.Message
			p.Pos = at("healthCheckAsserts")
			l.problems = append(l.problems, p)
		}
	}
}

// registered checks the registry's assertions of a component.
func (l *linter) registered(name string) {
	c := Component{Name: name}
	entry, ok := l.t.Components[name]
	if ok && entry.HealthCheck != nil && entry.HealthCheck.AssertFile != "" {
		if c.fromTree(l.t, entry.HealthCheck.AssertFile); c.File != "" { // else loading the tree reports it
			l.problems = append(l.problems, problemsOf(c)...)
		}
		return
	}
	if l.own[name] {
		return
	}
	at := l.used[name]
	if ok {
		at = l.t.ValuePos("registry.yaml", "components", strconv.Itoa(entry.Index), "name")
	}
	l.problems = append(l.problems, rule.NoHealthCheck.At(at, "%s has no health check: a validation of its recipes fails", name))
}

// problemsOf returns the problems of a component's assertions as lint problems.
func problemsOf(c Component) diag.List {
	err := load(c).err
	list, ok := errors.AsType[diag.List](err)
	if err != nil && !ok {
		return diag.List{rule.HealthCheck.At(diag.Pos{File: c.File}, "%s", err)}
	}
	var out diag.List
	for _, p := range list.Errors() {
		found := rule.HealthCheck.At(p.Pos, "%s: %s", p.Rule, p.Message)
		if p.Remedy != "" {
			found = found.With("%s", p.Remedy)
		}
		out = append(out, found)
	}
	return out
}
