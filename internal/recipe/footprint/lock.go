package footprint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// rendered is a parsed workload of a lock.
type rendered struct {
	kind, name string
	replicas   int32
	pod        Pod
	at         position
}

func (r *reader) render(f *Footprint, i int) {
	locked := &f.Spec.Renders[i]
	keys := []string{"spec", "renders", strconv.Itoa(i)}
	if _, twice := f.renders[locked.Values]; twice {
		r.add(rule.DuplicateEntry, positionIn(&f.Asset, f.Metadata.Name, join(keys, "values")...), "duplicate values")
		return
	}
	workloads := []rendered{}
	for j := range locked.Workloads {
		w := &locked.Workloads[j]
		at := positionIn(&f.Asset, fmt.Sprintf("%s %s", w.Kind, w.Name), join(keys, "workloads", strconv.Itoa(j))...)
		r.name(w.Name, at)
		if w.Kind != daemonSet && (w.Replicas < 1 || w.Replicas > maxReplicas) {
			r.add(rule.Replicas, at.at(fieldReplicas), "invalid replicas %d", w.Replicas)
		}
		workloads = append(workloads, rendered{
			kind: w.Kind, name: w.Name, replicas: int32(min(max(w.Replicas, 0), maxReplicas)), //nolint:gosec // it is bounded
			pod: r.pod(&w.Pod, at.at("pod")), at: at,
		})
	}
	f.renders[locked.Values] = workloads
}

// checkClasses reports entries of a rendered footprint for workloads that no render has.
func (r *reader) checkClasses(f *Footprint) {
	if f.Spec.Source != Rendered || len(f.renders) == 0 {
		return
	}
	for i := range f.workloads {
		w := &f.workloads[i]
		if w.CreatedBy != "" || slices.ContainsFunc(slices.Collect(maps.Values(f.renders)), func(list []rendered) bool {
			return slices.ContainsFunc(list, func(x rendered) bool { return w.is(x.kind, x.name) })
		}) {
			continue
		}
		r.add(rule.FootprintShape, w.at, "no render has this workload: set createdBy if an operator creates it, otherwise remove the entry")
	}
}
