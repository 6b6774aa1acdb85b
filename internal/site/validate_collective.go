package site

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/profile"
)

// Collectives are the collectives that gate collective runs, in their order: the all-reduce, which a site
// cannot leave out, and those of Suite.
func (c *CollectiveWorkload) Collectives() []string {
	return slices.DeleteFunc(profile.CollectiveNames(), func(name string) bool {
		return name != profile.AllReduce && !slices.Contains(c.Suite, name)
	})
}

func (v *validator) collective(s *Site, p *profile.Profile) {
	c := &s.Workloads.Collective
	for path, size := range map[string]string{"minBytes": c.MinBytes, "maxBytes": c.MaxBytes} {
		if size != "" && !byteSize.MatchString(size) {
			v.add("workloads.collective."+path, "invalid size %q: must be a size of nccl-tests, such as 8M or 16G", size)
		}
	}
	v.positive("workloads.collective.timeout", c.Timeout.D().Seconds(), "10m")
	v.suite(s, p)
	if c.ByRail {
		v.byRail(s, p)
	}
	if c.ByNVLinkDomain {
		v.byNVLinkDomain(s, p)
	}
}

// suite requires known collectives, each with a limit.
func (v *validator) suite(s *Site, p *profile.Profile) {
	v.unique("workloads.collective.suite", s.Workloads.Collective.Suite)
	for i, name := range s.Workloads.Collective.Suite {
		path := fmt.Sprintf("workloads.collective.suite.%d", i)
		v.oneOf(path, name, profile.CollectiveNames())
		if p == nil || len(s.Groups) > 0 || len(s.Inventory.Nodes) == 0 || s.NotApplicable["collective"] != "" || !slices.Contains(profile.CollectiveNames(), name) {
			continue
		}
		if _, _, ok := p.LimitOf(name, len(s.Inventory.Nodes)); !ok {
			v.add(path, "profile %s has no figure of %s on %d nodes and no rule for one: add a row to collective.suite.%s.ceilings or collective.suiteFloor to the profile, with its source", p.Name, name, len(s.Inventory.Nodes), name)
		}
	}
}

// byRail requires rails that NCCL_IB_HCA can select.
func (v *validator) byRail(s *Site, p *profile.Profile) {
	const path = "workloads.collective.byRail"
	switch {
	case len(s.Groups) > 0:
		v.add(path, "is not supported with groups: the groups' nodes may have other rails; remove it")
	case p != nil && !p.Verbs():
		v.add(path, "needs a fabric of InfiniBand or RoCE, whose ports NCCL_IB_HCA names; profile %s has %s: remove it", p.Name, p.Fabric.Kind)
	case p != nil && p.MultiNodeNVLink():
		v.add(path, "is not supported where NVLink connects nodes (profile %s): an all-reduce in a rack does not use the rails; remove it", p.Name)
	case len(s.Fabric.HCAs) < 2:
		v.add(path, "needs at least two rails in fabric.hcas, which has %d", len(s.Fabric.HCAs))
	case len(s.Inventory.Nodes) < 2:
		v.add(path, "needs at least two nodes: within one node no data crosses the rails")
	}
}

// byNVLinkDomain requires NVLink between nodes, which jobs use.
func (v *validator) byNVLinkDomain(s *Site, p *profile.Profile) {
	const path = "workloads.collective.byNVLinkDomain"
	switch {
	case len(s.Groups) > 0:
		v.add(path, "is not supported with groups: the groups' nodes may have no NVLink between nodes; remove it")
	case p != nil && !p.MultiNodeNVLink():
		v.add(path, "needs NVLink between nodes (node.nvlinkDomain above 1), which profile %s does not have; remove it: gate node judges the NVLinks inside of a node", p.Name)
	case s.NVLink.IMEX == IMEXNone:
		v.add(path, "contradicts nvlink.imex: %s, by which jobs do not use NVLink between nodes; remove one of them", IMEXNone)
	case len(s.Inventory.Nodes) < 2:
		v.add(path, "needs at least two nodes: within one node no data crosses NVLink between nodes")
	}
}
