package chart

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// check compares a footprint with the renderings of its chart.
func (u *updater) check(f *footprint.Footprint, c *Chart, renders []model.FootprintRender, r *Result) Result {
	if f.Spec.Source == footprint.Documented {
		return u.verify(f, renders, r)
	}
	drift, err := compare(f.Spec.Renders, renders)
	if err != nil {
		return r.end(Broken, oneLine(err))
	}
	for i := range drift {
		drift[i].Pos = f.ValueAt(append([]string{"spec", "renders"}, drift[i].keys...)...)
	}
	if have := f.Spec.Chart.Digest; have != c.Digest {
		r.Notes = append(r.Notes, fmt.Sprintf("the chart's files changed: digest %s, the lock has %s", short(c.Digest), short(have)))
	}
	if f.Spec.Chart.Version != r.Version {
		drift = append(drift, Drift{Pos: f.ValueAt("spec", "chart", "version"), Workload: "chart", Field: []string{"version"}, Footprint: f.Spec.Chart.Version, Chart: r.Version})
	}
	return u.judged(drift, r, "lock")
}

func (u *updater) judged(drift []Drift, r *Result, what string) Result {
	sortDrift(drift)
	r.Drift = drift
	if len(drift) > 0 {
		return r.end(Drifted, fmt.Sprintf("%d differences between %s and chart", len(drift), what))
	}
	return r.end(UpToDate, fmt.Sprintf("%d sets of values, %d workloads", r.Renders, r.Workloads))
}

// manualChanges lists required edits of a footprint after its lock was written: a class for
// each workload of the chart, and no entries for others.
func manualChanges(f *footprint.Footprint, renders []model.FootprintRender) []string {
	var out []string
	named := func(kind, name string) bool {
		return slices.ContainsFunc(f.Spec.Workloads, func(w model.FootprintWorkload) bool { return w.Kind == kind && w.Name == name })
	}
	there := map[string]bool{}
	for i := range renders {
		for j := range renders[i].Workloads {
			w := &renders[i].Workloads[j]
			if id := w.Kind + " " + w.Name; !there[id] {
				there[id] = true
				if !named(w.Kind, w.Name) {
					out = append(out, "add "+id+" with its class to workloads")
				}
			}
		}
	}
	for i := range f.Spec.Workloads {
		w := &f.Spec.Workloads[i]
		if id := w.Kind + " " + w.Name; w.CreatedBy == "" && !there[id] {
			out = append(out, "remove "+id+" from workloads: the chart does not have it")
		}
	}
	slices.Sort(out)
	return out
}
