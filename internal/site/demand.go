package site

// Demand is the site without the fields that may change during a run: access to hosts, clusters
// and controllers, the commands before a gate, and the text of the sign-off, which is
// renewed (see SignOff.InForce).
func (s *Site) Demand() Site {
	demand := *s
	demand.Reach, demand.Prepare = Reach{}, nil
	demand.Facility.SignOff = SignOff{}
	demand.Facility.Redfish = nil
	for _, r := range s.Facility.Redfish {
		demand.Facility.Redfish = append(demand.Facility.Redfish, Redfish{Name: r.Name, PDUs: r.PDUs, Chassis: r.Chassis})
	}
	demand.Inventory.Nodes = namesOnly(s.Inventory.Nodes)
	demand.Inventory.SystemNodes = namesOnly(s.Inventory.SystemNodes)
	return demand
}

func namesOnly(nodes []Node) []Node {
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = Node{Name: n.Name}
	}
	return out
}
