package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Subnet is an InfiniBand subnet of a fabric that has several.
type Subnet struct {
	Name string `yaml:"name" json:"name"`
	// HCAs are the names in Fabric.HCAs of the adapters on the subnet.
	HCAs []string `yaml:"hcas" json:"hcas"`
	// Port is the port by which a host sees the subnet: "mlx5_0" or "mlx5_0:1"; empty: port 1 of the first of HCAs.
	Port string `yaml:"port,omitempty" json:"port,omitempty"`
	// The other keys are those of Fabric.
	Switches []string `yaml:"switches" json:"switches"`
	Links    int      `yaml:"links" json:"links"`
	Topology string   `yaml:"topology,omitempty" json:"topology,omitempty"`
	Others   []string `yaml:"others,omitempty" json:"others,omitempty"`
	Design   string   `yaml:"design,omitempty" json:"design,omitempty"`
}

// Via is a port of an adapter of a host.
type Via struct {
	HCA  string
	Port int
}

// OnSubnet is the site with the adapters, switches and links of one of its subnets.
func (s *Site) OnSubnet(i int) *Site {
	n, out := s.Fabric.Subnets[i], *s
	out.Fabric.Subnets = nil
	out.Fabric.HCAs, out.Fabric.Switches, out.Fabric.Links = n.HCAs, n.Switches, n.Links
	out.Fabric.Topology, out.Fabric.Others, out.Fabric.Design = n.Topology, n.Others, n.Design
	out.Fabric.Via = n.via()
	return &out
}

// via is the port of a valid subnet.
func (n Subnet) via() Via {
	hca, port, numbered := strings.Cut(n.Port, ":")
	v := Via{HCA: hca, Port: 1}
	if hca == "" && len(n.HCAs) > 0 {
		v.HCA = n.HCAs[0]
	}
	if number, err := strconv.Atoi(port); numbered && err == nil {
		v.Port = number
	}
	return v
}

// subnets requires that each adapter is on one subnet, and of each subnet what a single one must have.
func (v *validator) subnets(s *Site) {
	f := &s.Fabric
	for key, set := range map[string]bool{
		"switches": len(f.Switches) > 0, "links": f.Links != 0, "topology": f.Topology != "", "others": len(f.Others) > 0, "design": f.Design != "",
	} {
		if set {
			v.add("fabric."+key, "must not be set with fabric.subnets: give it for each subnet")
		}
	}
	if len(f.Subnets) == 1 {
		v.add("fabric.subnets", "has one subnet: remove fabric.subnets, and give its keys below fabric")
	}
	names, hcas := map[string]string{}, map[string]string{}
	for i, n := range f.Subnets {
		at := fmt.Sprintf("fabric.subnets.%d", i)
		if !dnsLabel.MatchString(n.Name) {
			v.add(at+".name", "%q: use lower-case letters, digits and dashes, 63 at most", n.Name)
		}
		v.once(names, at+".name", n.Name)
		if len(n.HCAs) == 0 {
			v.add(at+".hcas", "is empty: list the adapters of fabric.hcas that are on the subnet")
		}
		for j, hca := range n.HCAs {
			key := fmt.Sprintf("%s.hcas.%d", at, j)
			if !slices.Contains(f.HCAs, hca) {
				v.add(key, "%q is not in fabric.hcas", hca)
			}
			v.once(hcas, key, hca)
		}
		if hca, port, numbered := strings.Cut(n.Port, ":"); n.Port != "" {
			if number, err := strconv.Atoi(port); hca == "" || numbered && (err != nil || number < 1) {
				v.add(at+".port", "invalid port %q: must be such as mlx5_0 or mlx5_0:1", n.Port)
			}
		}
		v.subnet(at, s.OnSubnet(i))
	}
	for _, hca := range f.HCAs {
		if hcas[hca] == "" {
			v.add("fabric.subnets", "no subnet has %s of fabric.hcas", hca)
		}
	}
}
