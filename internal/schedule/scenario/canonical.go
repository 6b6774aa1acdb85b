package scenario

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// Canonical is the part of a scenario that the fingerprint covers: texts for people are
// removed, quantities normalized, unordered lists sorted, and components without pods and
// labels dropped. Nodes keep their names. c is not modified.
func Canonical(c Scenario) Scenario {
	out := Scenario{Probe: Probe{Kind: c.Probe.Kind, Size: c.Probe.Size, Pod: canonicalPod(c.Probe.Pod)}}
	for _, n := range c.Nodes {
		out.Nodes = append(out.Nodes, canonicalNode(n, finders(c.Components)))
	}
	for _, component := range c.Components {
		if len(component.Workloads)+len(component.Publishes) > 0 {
			out.Components = append(out.Components, canonicalComponent(component))
		}
	}
	slices.SortFunc(out.Components, func(a, b footprint.Component) int { return cmp.Compare(a.Name, b.Name) })
	for _, control := range c.Controls {
		out.Controls = append(out.Controls, canonicalControl(control))
	}
	return out
}

// finders are the components with a pod that discovers: of others it does not
// matter what they would find.
func finders(components []footprint.Component) map[string]bool {
	out := map[string]bool{}
	for _, c := range components {
		out[c.Name] = slices.ContainsFunc(c.Workloads, func(w footprint.Workload) bool { return w.Discovers })
	}
	return out
}

func canonicalNode(n Node, finds map[string]bool) Node {
	n.Shape, n.Capacity, n.Lacks = "", nil, nil
	n.Allocatable = quantities(n.Allocatable)
	n.Taints = slices.Clone(n.Taints)
	for i := range n.Taints {
		n.Taints[i].TimeAdded = nil
	}
	n.Taints, n.Grants = set(n.Taints), sorted(n.Grants)
	n.Discovered = maps.Clone(n.Discovered)
	maps.DeleteFunc(n.Discovered, func(component string, labels map[string]string) bool { return !finds[component] || len(labels) == 0 })
	return n
}

func canonicalComponent(c footprint.Component) footprint.Component {
	out := footprint.Component{Name: c.Name}
	for _, w := range c.Workloads {
		out.Workloads = append(out.Workloads, canonicalWorkload(w))
	}
	out.Workloads, out.Publishes = sorted(out.Workloads), set(c.Publishes)
	return out
}

func canonicalWorkload(w footprint.Workload) footprint.Workload {
	w.CreatedBy, w.Object = "", "" // the creator and the kind of the object do not change the pods
	w.Brings = set(w.Brings)
	w.Pod = canonicalPod(w.Pod)
	return w
}

func canonicalControl(c Control) Control {
	c.Of = ""
	if c.NotApplicable != "" {
		c.NotApplicable = "yes" // why is for people
	}
	c.Workload = canonicalWorkload(c.Workload)
	c.Nodes = set(c.Nodes)
	return c
}

func canonicalPod(p footprint.Pod) footprint.Pod {
	p = clonePod(p)
	for i := range p.Tolerations {
		t := &p.Tolerations[i]
		t.Operator = cmp.Or(t.Operator, corev1.TolerationOpEqual)
	}
	p.Tolerations = set(p.Tolerations)
	p.Affinity = canonicalAffinity(p.Affinity)
	for i := range p.TopologySpreadConstraints {
		p.TopologySpreadConstraints[i] = canonicalSpread(p.TopologySpreadConstraints[i])
	}
	p.TopologySpreadConstraints = set(p.TopologySpreadConstraints)
	p.Requests = quantities(p.Requests)
	p.HostPorts = set(p.HostPorts)
	return p
}

// quantities are as the scheduler counts: cores in thousandths, all else whole.
func quantities(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range list {
		if name == corev1.ResourceCPU {
			out[name] = *resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI)
			continue
		}
		out[name] = *resource.NewQuantity(q.Value(), resource.DecimalSI)
	}
	return out
}
