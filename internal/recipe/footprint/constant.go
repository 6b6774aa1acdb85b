package footprint

import (
	"maps"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// pod reads the constant fields of a workload.
func (r *reader) pod(p *model.FootprintPod, at position) Pod {
	out := Pod{
		Labels:                    r.labels(maps.Clone(p.Labels), at.at("labels")),
		NodeSelector:              r.nodeSelector(maps.Clone(p.NodeSelector), at.at("nodeSelector")),
		TopologySpreadConstraints: r.spread(untyped(p.TopologySpreadConstraints), at.at("topologySpreadConstraints")),
		Tolerations:               r.tolerations(untyped(p.Tolerations), at.at("tolerations")),
		PriorityClassName:         p.PriorityClassName, SchedulerName: p.SchedulerName, HostNetwork: p.HostNetwork,
	}
	if len(p.Affinity) > 0 {
		out.Affinity = r.affinity(p.Affinity, at.at("affinity"))
	}
	requests := map[string]any{}
	for name, q := range p.Requests {
		requests[name] = q.Text
		if !q.Given {
			r.add(rule.PodField, at.at("requests", name), "must be a quantity")
		}
	}
	if len(requests) > 0 {
		out.Requests = r.requests(requests, at.at("requests"))
	}
	var ports []any
	for _, port := range p.HostPorts {
		ports = append(ports, port)
	}
	out.HostPorts = r.ports(untyped(ports), at.at("hostPorts"))
	return out
}

// untyped converts a nil list to a nil interface.
func untyped(l []any) any {
	if l == nil {
		return nil
	}
	return l
}
