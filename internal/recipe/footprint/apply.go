package footprint

import (
	"maps"

	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// values are a component's Helm values merged over the defaults of its footprint, with the
// position of each value.
type values struct {
	all   map[string]any
	place func(path []string) position
}

func (r *reader) holds(when []condition, v *values) bool {
	all := true
	for _, c := range when {
		if r.boolean(lookup(v.all, c.path), v.place(c.path)) != c.want {
			all = false
		}
	}
	return all
}

// chosen returns the paths of a rule that apply, in order.
func (q *valueRule) chosen(v *values) []query.Path {
	if !q.first {
		return q.paths
	}
	for _, p := range q.paths {
		if !empty(lookup(v.all, p)) {
			return []query.Path{p}
		}
	}
	return nil
}

// apply sets the fields of a workload from values.
func (r *reader) apply(w *Workload, spec *workloadSpec, v *values) {
	affinity := spec.Pod.Affinity
	for i := range spec.from {
		q := &spec.from[i]
		for _, path := range q.chosen(v) {
			value, at := lookup(v.all, path), v.place(path)
			if value == nil {
				continue
			}
			switch q.field {
			case fieldReplicas:
				w.Replicas = r.replicas(value, at)
			case "affinity":
				affinity = r.mergeAffinity(&w.Pod, affinity, value, at)
			default:
				r.field(&w.Pod, q.field, value, at)
			}
		}
	}
	w.Pod.clip()
}

func (r *reader) replicas(v any, at position) int32 {
	before := len(r.problems)
	n := r.number(v, at)
	if n < 1 && len(r.problems) == before {
		r.add(rule.Replicas, at, "invalid replicas %d: must be at least 1", n)
	}
	return max(n, 1)
}

// field merges one value into the pod: mappings are merged, lists appended, other values
// replaced.
func (r *reader) field(p *Pod, name string, v any, at position) {
	switch name {
	case fieldResources:
		p.Requests = addRequests(p.Requests, r.container(v, at))
	case "labels":
		p.Labels = merged(p.Labels, r.labels(r.stringMap(v, at), at))
	case "nodeSelector":
		p.NodeSelector = merged(p.NodeSelector, r.nodeSelector(r.stringMap(v, at), at))
	case "tolerations":
		p.Tolerations = append(p.Tolerations, r.tolerations(v, at)...)
	case "topologySpreadConstraints":
		p.TopologySpreadConstraints = append(p.TopologySpreadConstraints, r.spread(v, at)...)
	case "priorityClassName":
		p.PriorityClassName = r.text(v, at)
	case "schedulerName":
		p.SchedulerName = r.text(v, at)
	case "hostNetwork":
		p.HostNetwork = r.boolean(v, at)
	case "hostPorts":
		p.HostPorts = append(p.HostPorts, r.ports(v, at)...)
	default:
		panic("footprint: unknown pod field " + name) // parsing accepts only the fields above
	}
}

// mergeAffinity merges an affinity mapping over below and returns the result.
func (r *reader) mergeAffinity(p *Pod, below map[string]any, v any, at position) map[string]any {
	block := r.mapping(v, at)
	if len(block) == 0 || r.affinity(block, at) == nil {
		return below
	}
	both := coalesce(maps.Clone(block), below)
	p.Affinity = r.affinity(both, at)
	return both
}
