package chart

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// lock extracts the workloads with the fields that the scheduler reads, sorted by kind and
// name. f declares the pods of other kinds than those of Kubernetes.
func lock(f *footprint.Footprint, objects []object) ([]model.RenderedWorkload, error) {
	var out []model.RenderedWorkload
	for i := range objects {
		found, err := objects[i].workloads(f)
		if err != nil {
			return nil, err
		}
		for j := range found {
			w, err := found[j].lock()
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b model.RenderedWorkload) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	for i := 1; i < len(out); i++ {
		if out[i].Kind == out[i-1].Kind && out[i].Name == out[i-1].Name {
			return nil, fmt.Errorf("the chart renders two objects %s %s", out[i].Kind, out[i].Name)
		}
	}
	return out, nil
}

func (w *workload) lock() (model.RenderedWorkload, error) {
	pod, err := facts(&w.template)
	if err != nil {
		return model.RenderedWorkload{}, fmt.Errorf("%s: %s %s: %w", w.source, w.kind, w.name, err)
	}
	out := model.RenderedWorkload{Kind: w.kind, Name: w.name, Pod: pod}
	if w.kind != daemonSet {
		out.Replicas = int(w.replicas)
	}
	return out, nil
}
