package footprint

import (
	"maps"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// pod reads what is hard-coded.
func (r *reader) pod(p *model.FootprintPod, at place) Pod {
	out := Pod{
		Labels:                    r.labels(maps.Clone(p.Labels), at.at("labels")),
		NodeSelector:              r.nodeSelector(maps.Clone(p.NodeSelector), at.at("nodeSelector")),
		TopologySpreadConstraints: r.spread(anyList(p.TopologySpreadConstraints), at.at("topologySpreadConstraints")),
		Tolerations:               r.tolerations(anyList(p.Tolerations), at.at("tolerations")),
		PriorityClassName:         p.PriorityClassName, SchedulerName: p.SchedulerName, HostNetwork: p.HostNetwork,
	}
	if len(p.Affinity) > 0 {
		out.Affinity = r.affinity(p.Affinity, at.at("affinity"))
	}
	requests := map[string]any{}
	for name, q := range p.Requests {
		requests[name] = q.Text
		if !q.Given {
			r.add(rule.PodField, at.at("requests", name), "a quantity is wanted")
		}
	}
	if len(requests) > 0 {
		out.Requests = r.requests(requests, at.at("requests"))
	}
	var ports []any
	for _, port := range p.HostPorts {
		ports = append(ports, port)
	}
	out.HostPorts = r.ports(anyList(ports), at.at("hostPorts"))
	return out
}

// anyList keeps a nil list from being an empty interface that is not nil.
func anyList(l []any) any {
	if l == nil {
		return nil
	}
	return l
}
