package scenario

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
)

// expand makes the nodes of a shape, dealt out to its zones in turn.
func (b builder) expand(s *nodeprofile.Node, class footprint.Class, prefix string) []Node {
	var out []Node
	for i := range s.Count {
		n := Node{
			Name: fmt.Sprintf("%s-%d", prefix, i), Class: class, Shape: s.Name,
			Labels: registered(s, i), Taints: slices.Clone(s.Taints),
			Capacity: s.Capacity.DeepCopy(), Allocatable: s.Allocatable.DeepCopy(),
		}
		for _, d := range s.Devices {
			switch g := (Grant{Component: d.From, Resource: d.Name, Quantity: d.Quantity}); {
			case d.From == nodeprofile.FromProvider:
				n.offer(d.Name, d.Quantity)
			case b.present[d.From]:
				n.Grants = append(n.Grants, g)
			default:
				n.Lacks = append(n.Lacks, g)
			}
		}
		for component, labels := range s.Discovered {
			if n.Discovered == nil {
				n.Discovered = map[string]map[string]string{}
			}
			n.Discovered[component] = maps.Clone(labels)
		}
		out = append(out, n)
	}
	return out
}

// registered are the labels that a kubelet and its provider set, and the shape's own.
func registered(s *nodeprofile.Node, i int) map[string]string {
	labels := map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: s.Arch}
	if s.InstanceType != "" {
		labels[corev1.LabelInstanceTypeStable] = s.InstanceType
	}
	if s.Region != "" {
		labels[corev1.LabelTopologyRegion] = s.Region
	}
	if len(s.Zones) > 0 {
		labels[corev1.LabelTopologyZone] = s.Zones[i%len(s.Zones)]
	}
	maps.Copy(labels, s.Labels)
	return labels
}

// offer adds an extended resource that exists from the start.
func (n *Node) offer(name corev1.ResourceName, quantity int64) {
	for _, list := range []*corev1.ResourceList{&n.Capacity, &n.Allocatable} {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = *resource.NewQuantity(quantity, resource.DecimalSI)
	}
}

// twin is a GPU node for one control: with the devices from the start, gpus of the
// GPUs, and the labels that discovery would bring. No component's pods run there.
func (b builder) twin(control string, gpus func(d nodeprofile.Device) int64) Node {
	s := b.nodes.Accelerated
	n := b.expand(s, footprint.Accelerated, control)[0]
	n.Control = control
	n.Labels = addDiscoveredLabels(n, b.components, func(footprint.Workload, map[string]string) bool { return true })
	n.Grants, n.Lacks, n.Discovered = nil, nil, nil
	for _, d := range s.Devices {
		quantity := d.Quantity
		if d.Use == nodeprofile.UseGPU {
			quantity = gpus(d)
		}
		n.offer(d.Name, quantity)
	}
	return n
}
