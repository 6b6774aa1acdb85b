package chart

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// verify compares the workloads that the rules of a documented footprint give for each set of
// values with those of the chart.
func (u *updater) verify(f *footprint.Footprint, renders []model.FootprintRender, r *Result) Result {
	var all []Drift
	cases, err := u.all.valueSets(r.Name, r.Version, u.set)
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	for i := range cases {
		rules, err := u.byRules(r.Name, cases[i].recipes[0])
		if err != nil {
			return r.end(Broken, oneLine(err))
		}
		chart := slices.Clone(renders[i].Workloads)
		for j := range chart {
			chart[j].Pod.Labels = sameLabels(&chart[j], rules)
		}
		drift, err := compareWorkloads(rules, chart)
		if err != nil {
			return r.end(Broken, oneLine(err))
		}
		for j := range drift {
			d := &drift[j]
			d.Values, d.Recipes, d.Pos = cases[i].values, renders[i].Recipes, f.At("spec", "workloads")
			if at := ruleOf(f, d.Workload); at != "" {
				d.Pos = f.At("spec", "workloads", at)
			}
		}
		all = append(all, drift...)
	}
	return u.judged(all, r, "rules")
}

// byRules returns the workloads of the chart itself according to the rules.
func (u *updater) byRules(component, recipe string) ([]model.RenderedWorkload, error) {
	components, problems := u.set.Components(u.all.results[recipe])
	for i := range components {
		if components[i].Name != component {
			continue
		}
		out := []model.RenderedWorkload{}
		for j := range components[i].Workloads {
			w := &components[i].Workloads[j]
			if w.CreatedBy != "" {
				continue
			}
			pod, err := written(&w.Pod)
			if err != nil {
				return nil, err
			}
			out = append(out, model.RenderedWorkload{Kind: w.Kind, Name: w.Name, Replicas: int(w.Replicas), Pod: pod})
		}
		return out, nil
	}
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("apply the rules to recipe %s: %w", recipe, err)
	}
	return nil, fmt.Errorf("recipe %s does not deploy %s", recipe, component)
}

// sameLabels keeps only the labels that the rules name: rules omit labels that nothing selects.
func sameLabels(w *model.RenderedWorkload, rules []model.RenderedWorkload) map[string]string {
	out := maps.Clone(w.Pod.Labels)
	for i := range rules {
		if rules[i].Kind == w.Kind && rules[i].Name == w.Name {
			maps.DeleteFunc(out, func(key, _ string) bool { _, named := rules[i].Pod.Labels[key]; return !named })
		}
	}
	return out
}

func ruleOf(f *footprint.Footprint, workload string) string {
	for i := range f.Spec.Workloads {
		if w := &f.Spec.Workloads[i]; w.Kind+" "+w.Name == workload {
			return strconv.Itoa(i)
		}
	}
	return ""
}
