package chart

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Options say which footprints are looked at, and what is done.
type Options struct {
	// Names of footprints; none: all.
	Names []string
	// Sources of charts, in the order in which they are tried.
	Sources Sources
	// Check compares instead of writing.
	Check bool
	// Dir is the tree's directory, where it is to be written to.
	Dir string
	// Jobs is how many charts are fetched and rendered at once; 0: 4.
	Jobs int
}

// defaultJobs is how many charts are fetched at once: it is mostly waiting.
const defaultJobs = 4

// Update renders the charts of footprints with the values of the tree's recipes, and
// writes what the scheduler sees of them into the footprints, or says in what they
// differ. There is one result for each footprint, in their order.
func Update(ctx context.Context, t *tree.Tree, o Options) ([]Result, error) {
	set, problems := footprint.Load(t)
	if err := unusable(problems); err != nil {
		return nil, err
	}
	if set.Shipped && !o.Check {
		return nil, fmt.Errorf("%s has no footprints: there is nothing to update", t.Label)
	}
	chosen, err := choose(set, o.Names)
	if err != nil {
		return nil, err
	}
	all, err := resolveAll(t)
	if err != nil {
		return nil, err
	}
	u := &updater{Options: o, all: all, set: set}
	results := make([]Result, len(chosen))
	if o.Jobs <= 0 {
		o.Jobs = defaultJobs
	}
	slots := make(chan struct{}, o.Jobs)
	var wg sync.WaitGroup
	for i, f := range chosen {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = u.one(ctx, f)
		})
	}
	wg.Wait()
	return results, ctx.Err() //nolint:wrapcheck // the caller asked for it
}

// updater is one run.
type updater struct {
	Options

	all *recipes
	set *footprint.Set
}

// unusable are the problems that keep footprints from being updated: those of locks
// and classes are what updating is for.
func unusable(problems diag.List) error {
	return problems.Without(rule.FootprintShape, rule.NoClass, rule.NotRendered, rule.FootprintVersion).Err()
}

func choose(set *footprint.Set, names []string) ([]*footprint.Footprint, error) {
	if len(names) == 0 {
		if len(set.Footprints) == 0 {
			return nil, errors.New("the tree has no footprints")
		}
		return set.Footprints, nil
	}
	var out []*footprint.Footprint
	for _, name := range names {
		f, ok := set.Get(name)
		if !ok {
			var all []string
			for _, f := range set.Footprints {
				all = append(all, f.Metadata.Name)
			}
			if near := diag.Nearest(name, all); near != "" {
				return nil, fmt.Errorf("there is no footprint %s: did you mean %s?", name, near)
			}
			return nil, fmt.Errorf("there is no footprint %s; there are: %s", name, strings.Join(all, ", "))
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

// one updates one footprint.
func (u *updater) one(ctx context.Context, f *footprint.Footprint) Result {
	r := &Result{Name: f.Metadata.Name, File: f.Name, Source: f.Spec.Source}
	if f.Spec.Chart == nil {
		if f.Spec.Kustomize != nil {
			r.Version = f.Spec.Kustomize.Tag
		}
		return r.end(NotApplicable, "it is made of a kustomization, not of a chart")
	}
	want, err := u.wanted(f, r)
	if err != nil {
		return r.end(Broken, err.Error())
	}
	r.Version = want.Version
	cases, err := u.all.cases(r.Name, want.Version, u.set)
	if err != nil {
		return r.end(Broken, err.Error())
	}
	if len(cases) == 0 {
		return r.end(NotApplicable, "no recipe deploys it as a chart")
	}
	c, attempts := u.Sources.get(ctx, want)
	r.Attempts = attempts
	if c == nil {
		return r.end(Unavailable, "no source has the chart")
	}
	c, renders, err := u.render(ctx, c, want, cases, r)
	if gap, ok := errors.AsType[*incompleteError](err); ok {
		return r.end(Unavailable, gap.Error())
	}
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	r.Notes = append(r.Notes, c.Notes...)
	if r.Workloads == 0 && hasOwn(f) {
		return r.end(Broken, "the chart renders nothing that has pods, and the footprint says that it has some")
	}
	if u.Check {
		return u.check(f, c, renders, r)
	}
	return u.write(f, c, want, renders, r)
}

// wanted is the chart that the recipes deploy.
func (u *updater) wanted(f *footprint.Footprint, r *Result) (*model.FootprintChart, error) {
	want := *f.Spec.Chart
	have := charts(u.all.of(r.Name))
	var versions, places []string
	for key := range have {
		if !slices.Contains(versions, key.Version) {
			versions = append(versions, key.Version)
		}
		if key.Name != want.Name || strings.TrimSuffix(key.Repository, "/") != strings.TrimSuffix(want.Repository, "/") {
			places = append(places, strings.TrimSuffix(key.Repository, "/")+"/"+key.Name)
		}
	}
	slices.Sort(versions)
	slices.Sort(places)
	switch {
	case len(places) > 0:
		return nil, fmt.Errorf("recipes deploy %s, and the footprint is of %s/%s: correct spec.chart", places[0], strings.TrimSuffix(want.Repository, "/"), want.Name)
	case len(versions) == 1 && !sameVersion(versions[0], want.Version):
		r.Notes = append(r.Notes, fmt.Sprintf("the footprint was of %s, recipes deploy %s", want.Version, versions[0]))
		want.Version = versions[0]
		if want.ModuleVersion != "" {
			want.Module = "" // the module that it names has the other version
		}
	case len(versions) > 1 && !slices.ContainsFunc(versions, func(v string) bool { return sameVersion(v, want.Version) }):
		return nil, fmt.Errorf("recipes deploy the versions %s, and none of them is %s, which the footprint is of: it can be of one version", strings.Join(versions, ", "), want.Version)
	case len(versions) > 1:
		r.Notes = append(r.Notes, fmt.Sprintf("recipes deploy the versions %s; rendered for those that have %s", strings.Join(versions, ", "), want.Version))
	}
	return &want, nil
}

// hasOwn says whether the footprint has workloads that the chart has, not an operator.
func hasOwn(f *footprint.Footprint) bool {
	return slices.ContainsFunc(f.Spec.Workloads, func(w model.FootprintWorkload) bool { return w.CreatedBy == "" })
}

func (u *updater) write(f *footprint.Footprint, c *Chart, want *model.FootprintChart, renders []model.FootprintRender, r *Result) Result {
	at := filepath.Join(u.Dir, filepath.FromSlash(f.Path))
	changed, err := rewrite(at, f.Name, change{version: want.Version, digest: c.Digest, renders: renders})
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	r.Notes = append(r.Notes, todo(f, renders)...)
	what := fmt.Sprintf("%d sets of values, %d workloads", r.Renders, r.Workloads)
	if !changed {
		return r.end(Unchanged, what)
	}
	return r.end(Locked, what)
}

func oneLine(err error) string { return scrub(err) }
