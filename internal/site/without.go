package site

import "slices"

// Without is the site without some of its GPU nodes: they are part of the facility and the fabric,
// and nothing else is demanded of them. A node of another name is ignored.
func (s *Site) Without(nodes []string) *Site {
	out := *s
	out.Inventory.Nodes = nil
	out.Inventory.LeftOut = slices.Clone(s.Inventory.LeftOut)
	out.Fabric.Subnets = slices.Clone(s.Fabric.Subnets)
	for _, n := range s.Inventory.Nodes {
		if slices.Contains(nodes, n.Name) {
			out.Inventory.LeftOut = append(out.Inventory.LeftOut, n.Name)
			out.Fabric.Links = max(0, out.Fabric.Links-len(s.Fabric.HCAs))
			for i := range out.Fabric.Subnets {
				n := &out.Fabric.Subnets[i]
				n.Links = max(0, n.Links-len(n.HCAs))
			}
			continue
		}
		out.Inventory.Nodes = append(out.Inventory.Nodes, n)
	}
	out.Facility.Redfish = nil
	for _, r := range s.Facility.Redfish {
		if slices.Contains(nodes, r.Name) && s.hasNode(r.Name) { // the node's own controller
			r.Chassis = nil
			if len(r.PDUs) == 0 {
				continue
			}
		}
		r.Chassis = slices.DeleteFunc(slices.Clone(r.Chassis), func(name string) bool { return slices.Contains(nodes, name) })
		out.Facility.Redfish = append(out.Facility.Redfish, r)
	}
	out.Workloads.Training.Nodes = min(s.Workloads.Training.Nodes, len(out.Inventory.Nodes))
	return &out
}

func (s *Site) hasNode(name string) bool {
	return slices.ContainsFunc(s.Inventory.Nodes, func(n Node) bool { return n.Name == name })
}

// Part is the site without nodes that have not failed, as those of another view: Without, and they are
// among Others.
func (s *Site) Part(others []string) *Site {
	out := s.Without(others)
	out.Inventory.Others = slices.Clone(s.Inventory.Others)
	for _, n := range s.Inventory.Nodes {
		if slices.Contains(others, n.Name) {
			out.Inventory.Others = append(out.Inventory.Others, n)
		}
	}
	return out
}

// With is the site with more GPU nodes, of which nothing is demanded but what gates observe of a node.
func (s *Site) With(nodes []Node) *Site {
	out := *s
	out.Inventory.Nodes = slices.Concat(s.Inventory.Nodes, nodes)
	again := func(name string) bool {
		return slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == name })
	}
	out.Inventory.LeftOut = slices.DeleteFunc(slices.Clone(s.Inventory.LeftOut), again)
	out.Inventory.Others = slices.DeleteFunc(slices.Clone(s.Inventory.Others), func(n Node) bool { return again(n.Name) })
	return &out
}

// NodeNames are the names of the GPU nodes.
func (s *Site) NodeNames() []string {
	names := make([]string, 0, len(s.Inventory.Nodes))
	for _, n := range s.Inventory.Nodes {
		names = append(names, n.Name)
	}
	return names
}
