package chart

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Options configure Update.
type Options struct {
	// Names of the footprints to update; none: all.
	Names []string
	// Sources of charts, in the order they are tried.
	Sources Sources
	// Check compares instead of writing.
	Check bool
	// Dir is the directory of the tree; required unless Check is set.
	Dir string
	// Jobs is the number of charts processed in parallel; 0: 4.
	Jobs int
}

const defaultJobs = 4

// Update renders the charts of footprints with the values of the tree's recipes. It writes the
// fields that the scheduler reads into the footprints or, with Check, reports the differences.
// There is one result for each footprint, in their order.
func Update(ctx context.Context, t *tree.Tree, o Options) ([]Result, error) {
	set, problems := footprint.Load(t)
	if err := unusable(problems); err != nil {
		return nil, err
	}
	if set.Shipped && !o.Check {
		return nil, fmt.Errorf("%s has no footprints to update", t.Label)
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
	var g errgroup.Group
	g.SetLimit(o.Jobs)
	for i, f := range chosen {
		g.Go(func() error {
			results[i] = u.one(ctx, f)
			return nil
		})
	}
	_ = g.Wait() // results hold the errors
	return results, ctx.Err()
}

type updater struct {
	Options

	all *recipes
	set *footprint.Set
}

// unusable returns the problems that prevent an update. Problems of locks and classes do not:
// an update corrects them.
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
				return nil, fmt.Errorf("footprint %s not found: did you mean %s?", name, near)
			}
			return nil, fmt.Errorf("footprint %s not found: want one of %s", name, strings.Join(all, ", "))
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

func (u *updater) one(ctx context.Context, f *footprint.Footprint) Result {
	r := &Result{Name: f.Metadata.Name, File: f.Name, Source: f.Spec.Source}
	if f.Spec.Chart == nil {
		if f.Spec.Kustomize != nil {
			r.Version = f.Spec.Kustomize.Tag
		}
		return r.end(NotApplicable, "the footprint is for a kustomization, not for a chart")
	}
	want, err := u.chartToRender(f, r)
	if err != nil {
		return r.end(Broken, err.Error())
	}
	r.Version = want.Version
	cases, err := u.all.valueSets(r.Name, want.Version, u.set)
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
	c, renders, err := u.render(ctx, f, c, want, cases, r)
	if gap, ok := errors.AsType[*incompleteError](err); ok {
		return r.end(Unavailable, gap.Error())
	}
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	r.Notes = append(r.Notes, c.Notes...)
	if r.Workloads == 0 && hasOwn(f) {
		return r.end(Broken, "the chart renders no pods, but the footprint has workloads")
	}
	if u.Check {
		return u.check(f, c, renders, r)
	}
	return u.write(f, c, want, renders, r)
}

// chartToRender returns the chart that the recipes deploy.
func (u *updater) chartToRender(f *footprint.Footprint, r *Result) (*model.FootprintChart, error) {
	want := *f.Spec.Chart
	have := chartsOf(u.all.deploying(r.Name))
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
		return nil, fmt.Errorf("recipes deploy %s, but the footprint is for %s/%s: correct spec.chart", places[0], strings.TrimSuffix(want.Repository, "/"), want.Name)
	case len(versions) == 1 && !sameVersion(versions[0], want.Version):
		r.Notes = append(r.Notes, fmt.Sprintf("the footprint was for %s, recipes deploy %s", want.Version, versions[0]))
		want.Version = versions[0]
		if want.ModuleVersion != "" {
			want.Module = "" // module has another version
		}
	case len(versions) > 1 && !slices.ContainsFunc(versions, func(v string) bool { return sameVersion(v, want.Version) }):
		return nil, fmt.Errorf("recipes deploy the versions %s but not %s, which the footprint is for; it can describe one version only", strings.Join(versions, ", "), want.Version)
	case len(versions) > 1:
		r.Notes = append(r.Notes, fmt.Sprintf("recipes deploy the versions %s; rendered for recipes with %s", strings.Join(versions, ", "), want.Version))
	}
	return &want, nil
}

// hasOwn reports whether the footprint has workloads of the chart itself.
func hasOwn(f *footprint.Footprint) bool {
	return slices.ContainsFunc(f.Spec.Workloads, func(w model.FootprintWorkload) bool { return w.CreatedBy == "" })
}

func (u *updater) write(f *footprint.Footprint, c *Chart, want *model.FootprintChart, renders []model.FootprintRender, r *Result) Result {
	at := filepath.Join(u.Dir, filepath.FromSlash(f.Path))
	changed, err := rewrite(at, f.Name, change{version: want.Version, digest: c.Digest, renders: renders})
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	r.Notes = append(r.Notes, manualChanges(f, renders)...)
	what := fmt.Sprintf("%d sets of values, %d workloads", r.Renders, r.Workloads)
	if !changed {
		return r.end(Unchanged, what)
	}
	return r.end(Locked, what)
}

func oneLine(err error) string { return redact(err) }
