package chart

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// incompleteError says that a chart was had without charts that it depends on.
type incompleteError struct{ error }

// maxMissing bounds how many charts are fetched for one that depends on them.
const maxMissing = 32

// render renders every set of values, in every setting in which recipes have it. It
// returns the chart with what was missing of it.
func (u *updater) render(ctx context.Context, c *Chart, want *model.FootprintChart, cases []kase, r *Result) (*Chart, []model.FootprintRender, error) {
	var renders []model.FootprintRender
	for i := range cases {
		k := &cases[i]
		var first []model.RenderedWorkload
		for j := range k.settings {
			s := &k.settings[j]
			whole, workloads, err := u.cook(ctx, c, want, s.settings, r)
			if err != nil {
				return nil, nil, fmt.Errorf("for recipe %s: %w", s.recipe, err)
			}
			c = whole
			if j == 0 {
				first = workloads
				continue
			}
			if err := same(first, workloads, "recipes "+k.settings[0].recipe+" and "+s.recipe+" have the same values, and other components beside it or another namespace"); err != nil {
				return nil, nil, err
			}
		}
		renders = append(renders, model.FootprintRender{Values: k.values, Recipes: u.all.shown(k, r.Name), Workloads: first})
		r.Renders++
		r.Workloads += len(first)
	}
	return c, renders, nil
}

// cook renders one setting, twice: what is random in a chart is no fact. Charts that
// are missing are fetched.
func (u *updater) cook(ctx context.Context, c *Chart, want *model.FootprintChart, s settings, r *Result) (*Chart, []model.RenderedWorkload, error) {
	for range maxMissing {
		out, err := c.render(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if len(out.missing) == 0 {
			first, err := lock(out.objects)
			if err != nil {
				return nil, nil, err
			}
			again, err := c.render(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			second, err := lock(again.objects)
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
	return nil, nil, fmt.Errorf("chart %s depends on more than %d charts that are not in it", c.Name, maxMissing)
}

// same is an error where two locks differ, which names the first difference.
func same(a, b []model.RenderedWorkload, why string) error {
	drift, err := compareWorkloads(a, b)
	if err != nil || len(drift) == 0 {
		return err
	}
	d := drift[0]
	return fmt.Errorf("%s, and the pods differ: %s", why, strings.TrimSpace(d.Workload+" "+d.Field.String()))
}
