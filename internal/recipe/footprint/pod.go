package footprint

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// clone returns a deep copy.
func (p *Pod) clone() Pod {
	out := *p
	out.Labels, out.NodeSelector = maps.Clone(p.Labels), maps.Clone(p.NodeSelector)
	out.Affinity = p.Affinity.DeepCopy()
	out.Tolerations = nil
	for i := range p.Tolerations {
		out.Tolerations = append(out.Tolerations, *p.Tolerations[i].DeepCopy())
	}
	out.TopologySpreadConstraints = nil
	for i := range p.TopologySpreadConstraints {
		out.TopologySpreadConstraints = append(out.TopologySpreadConstraints, *p.TopologySpreadConstraints[i].DeepCopy())
	}
	out.Requests = p.Requests.DeepCopy()
	out.HostPorts = slices.Clone(p.HostPorts)
	return out
}

// merged returns a with b merged over it; nil if both are empty.
func merged(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// clip sets empty fields to nil, so that equal pods compare equal.
func (p *Pod) clip() {
	if len(p.Requests) == 0 {
		p.Requests = nil
	}
	if p.Affinity != nil && *p.Affinity == (corev1.Affinity{}) {
		p.Affinity = nil
	}
}
