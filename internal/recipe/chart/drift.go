package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// Drift is one difference between a footprint and its chart.
type Drift struct {
	diag.Pos
	// Values is the digest of the recipe's values, Recipes the recipes with these values.
	Values  string   `json:"values"`
	Recipes []string `json:"recipes,omitempty"`
	// Workload is kind and name; Field a path in its pod, or replicas.
	Workload string     `json:"workload,omitempty"`
	Field    query.Path `json:"field,omitempty"`
	// Footprint and Chart are the two values; absent if the field is not set.
	Footprint any `json:"footprint,omitempty"`
	Chart     any `json:"chart,omitempty"`

	// keys is the path of the difference in the compared document.
	keys []string
}

// String describes the drift without its position.
func (d Drift) String() string {
	where := "values " + short(d.Values)
	if d.Workload == "" {
		return fmt.Sprintf("%s: %s, %s", where, presence("the footprint", d.Footprint), presence("a recipe", d.Chart))
	}
	where += ": " + d.Workload
	if len(d.Field) == 0 {
		return fmt.Sprintf("%s: %s, %s", where, presence("the footprint", d.Footprint), presence("the chart", d.Chart))
	}
	return fmt.Sprintf("%s: %s: the footprint has %s, the chart %s", where, d.Field, inline(d.Footprint), inline(d.Chart))
}

func presence(who string, v any) string {
	if v == nil {
		return who + " does not have it"
	}
	return who + " has it"
}

func inline(v any) string {
	if v == nil {
		return "nothing"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

func short(digest string) string { return digest[:min(len(digest), 12)] }

// compare returns the differences between the renders of a footprint and those of its chart.
func compare(footprint, chart []model.FootprintRender) ([]Drift, error) {
	var out []Drift
	find := func(list []model.FootprintRender, values string) int {
		return slices.IndexFunc(list, func(r model.FootprintRender) bool { return r.Values == values })
	}
	for i := range footprint {
		f := &footprint[i]
		j := find(chart, f.Values)
		if j < 0 {
			out = append(out, Drift{Values: f.Values, Recipes: f.Recipes, Footprint: true, keys: []string{strconv.Itoa(i)}})
			continue
		}
		drift, err := compareWorkloads(f.Workloads, chart[j].Workloads)
		if err != nil {
			return nil, err
		}
		for k := range drift {
			drift[k].Values, drift[k].Recipes = f.Values, chart[j].Recipes
			drift[k].keys = append([]string{strconv.Itoa(i), "workloads"}, drift[k].keys...)
		}
		out = append(out, drift...)
	}
	for i := range chart {
		if find(footprint, chart[i].Values) < 0 {
			out = append(out, Drift{Values: chart[i].Values, Recipes: chart[i].Recipes, Chart: true})
		}
	}
	return out, nil
}

func compareWorkloads(footprint, chart []model.RenderedWorkload) ([]Drift, error) {
	var out []Drift
	find := func(list []model.RenderedWorkload, like *model.RenderedWorkload) int {
		return slices.IndexFunc(list, func(w model.RenderedWorkload) bool { return w.Kind == like.Kind && w.Name == like.Name })
	}
	for i := range footprint {
		f := &footprint[i]
		name := f.Kind + " " + f.Name
		j := find(chart, f)
		if j < 0 {
			out = append(out, Drift{Workload: name, Footprint: true, keys: []string{strconv.Itoa(i)}})
			continue
		}
		have, err := document(f)
		if err != nil {
			return nil, err
		}
		want, err := document(&chart[j])
		if err != nil {
			return nil, err
		}
		for _, d := range compareDocuments(have, want) {
			d.Workload, d.keys = name, append([]string{strconv.Itoa(i)}, d.Field...)
			out = append(out, d)
		}
	}
	for i := range chart {
		if find(footprint, &chart[i]) < 0 {
			out = append(out, Drift{Workload: chart[i].Kind + " " + chart[i].Name, Chart: true})
		}
	}
	return out, nil
}

// document converts a workload to plain values.
func document(w *model.RenderedWorkload) (map[string]any, error) {
	out := map[string]any{}
	if w.Replicas > 0 {
		out["replicas"] = json.Number(strconv.Itoa(w.Replicas))
	}
	fields, err := podFields(&w.Pod)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", w.Kind, w.Name, err)
	}
	pod := map[string]any{}
	for _, f := range fields {
		pod[f.key] = f.value
	}
	out["pod"] = pod
	return out, nil
}

// compareDocuments returns the leaves that differ, sorted by path. A list is a leaf, and its
// order matters.
func compareDocuments(footprint, chart map[string]any) []Drift {
	all := map[string]*Drift{}
	at := func(path query.Path) *Drift {
		if all[path.String()] == nil {
			all[path.String()] = &Drift{Field: path}
		}
		return all[path.String()]
	}
	for _, l := range query.Flatten(footprint, nil) {
		at(l.Path).Footprint = l.Value
	}
	for _, l := range query.Flatten(chart, nil) {
		at(l.Path).Chart = l.Value
	}
	var out []Drift
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if d := all[key]; !reflect.DeepEqual(d.Footprint, d.Chart) {
			out = append(out, *d)
		}
	}
	return out
}

// sortDrift sorts by position, then by content.
func sortDrift(list []Drift) {
	slices.SortStableFunc(list, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Values, b.Values), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Field.String(), b.Field.String()))
	})
}
