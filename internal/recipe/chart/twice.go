package chart

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// incompleteError means that dependencies of the chart are unavailable.
type incompleteError struct{ error }

// maxMissing bounds the number of fetched dependencies of a chart.
const maxMissing = 32

// render renders every set of values in every case. It returns the chart including the fetched
// dependencies.
func (u *updater) render(ctx context.Context, f *footprint.Footprint, c *Chart, want *model.FootprintChart, cases []valueSet, r *Result) (*Chart, []model.FootprintRender, error) {
	var renders []model.FootprintRender
	for i := range cases {
		k := &cases[i]
		var first []model.RenderedWorkload
		for j := range k.cases {
			s := &k.cases[j]
			whole, workloads, err := u.renderTwice(ctx, f, c, want, s.renderOptions, r)
			if err != nil {
				return nil, nil, fmt.Errorf("for recipe %s: %w", s.recipe, err)
			}
			c = whole
			if j == 0 {
				first = workloads
				continue
			}
			if err := same(first, workloads, "recipes "+k.cases[0].recipe+" and "+s.recipe+" have the same values but different namespaces or other components"); err != nil {
				return nil, nil, err
			}
		}
		renders = append(renders, model.FootprintRender{Values: k.values, Recipes: u.all.displayNames(k, r.Name), Workloads: first})
		r.Renders++
		r.Workloads += len(first)
	}
	return c, renders, nil
}

// renderTwice renders one case twice, to detect random output. It fetches missing dependencies.
func (u *updater) renderTwice(ctx context.Context, f *footprint.Footprint, c *Chart, want *model.FootprintChart, s renderOptions, r *Result) (*Chart, []model.RenderedWorkload, error) {
	for range maxMissing {
		out, err := c.render(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if len(out.missing) == 0 {
			first, err := lock(f, out.objects)
			if err != nil {
				return nil, nil, err
			}
			again, err := c.render(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			second, err := lock(f, again.objects)
			if err != nil {
				return nil, nil, err
			}
			return c, first, same(first, second, "the chart renders differently each time")
		}
		whole, attempts, err := u.Sources.complete(ctx, c, out.missing[0], want)
		r.Attempts = append(r.Attempts, attempts...)
		if err != nil {
			return nil, nil, &incompleteError{err}
		}
		c = whole
	}
	return nil, nil, fmt.Errorf("chart %s depends on more than %d charts that are not packaged with it", c.Name, maxMissing)
}

// same returns an error with the first difference if two locks differ.
func same(a, b []model.RenderedWorkload, why string) error {
	drift, err := compareWorkloads(a, b)
	if err != nil || len(drift) == 0 {
		return err
	}
	d := drift[0]
	return fmt.Errorf("%s, but the pods differ: %s", why, strings.TrimSpace(d.Workload+" "+d.Field.String()))
}
