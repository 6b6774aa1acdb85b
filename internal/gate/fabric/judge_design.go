package fabric

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/cabling"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

const (
	remedyDesign = "plug the cables as designed, or correct the design (fabric.design of the site); then run again: firstlight accept --from fabric"
	// designTarget is the target of the observation of the design.
	designTarget = "site"
	// switchKind is the Kind of a switch in ibnetdiscover's output.
	switchKind = "Switch"
)

func wiring(out ssh.Output) (any, error) {
	nodes, err := infiniband.ParseNetDiscover(out.Stdout)
	if err == nil {
		err = complete(out, out.Exit == 0)
	}
	return nodes, err
}

// observeDesign records the design of the fabric, so that the evidence has it, and the fabric as
// wired; neither without a design.
func (g *Gate) observeDesign(ctx context.Context, rec check.Recorder) error {
	path := g.site.Fabric.Design
	if path == "" {
		return nil
	}
	attempt := check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kindDesign, designTarget, "read "+path)
	raw, err := os.ReadFile(path)
	var design []infiniband.NetNode
	if err == nil {
		design, err = infiniband.ParseNetDiscover(raw)
	}
	if err != nil {
		err = fmt.Errorf("cannot read the design of the fabric, %s: %w", path, err)
	}
	if err := attempt.Raw(raw).Record(design, err); err != nil {
		return err
	}
	return g.run(ctx, rec, kindNet, g.site.Reach.SSH.FabricHost)
}

// judgeDesign compares the cables with the site's design.
func (g *Gate) judgeDesign(b *check.Builder, obs []check.Observation, names names) {
	c, ok := g.compareDesign(b, obs, names)
	if !ok {
		return
	}
	asDesigned := len(c.designed)
	for _, d := range c.differences {
		asDesigned -= len(d.Designed)
		for _, suspect := range suspectsOf(d, c.switches) {
			b.Fail(c.wired.ID, suspect, remedyDesign, "%s cable: %s", d.Kind, d)
		}
	}
	b.Figure(check.Figure{Name: "cables as designed", Value: float64(asDesigned), Unit: "links", Limit: float64(len(c.designed)), Relation: "==", Source: "site fabric.design"})
}

// comparison of the cables with the design.
type comparison struct {
	designed, cables []cabling.Link
	differences      []cabling.Difference
	switches         map[string]bool // by name
	// wired is the observation of the cables.
	wired check.Observation
}

// compareDesign compares the cables with the site's design; false without a design, or with a finding if
// something is missing.
func (g *Gate) compareDesign(b *check.Builder, obs []check.Observation, names names) (comparison, bool) {
	if g.site.Fabric.Design == "" {
		return comparison{}, false
	}
	design, _, ok := check.RequireLast[[]infiniband.NetNode](b, obs, kindDesign, designTarget, "fabric.design", "correct the file that fabric.design of the site names (the output of ibnetdiscover on a fabric as designed), then run again: firstlight accept --from fabric")
	if !ok {
		return comparison{}, false
	}
	wired, o, ok := check.RequireLast[[]infiniband.NetNode](b, obs, kindNet, g.site.Reach.SSH.FabricHost, g.site.Reach.SSH.FabricHost, remedySSH)
	if !ok {
		return comparison{}, false
	}
	design, wired = names.netNodes(design), names.netNodes(wired)
	descriptions := map[string]string{} // of the design, by GUID: a host that is down may have lost its own
	for _, n := range design {
		descriptions[n.ID] = n.Name
	}
	designed, err := g.linksOf(design, nil, names)
	if err != nil {
		b.Unobserved(o.ID, "fabric.design", remedyDesign, "the design is ambiguous: %v", err)
		return comparison{}, false
	}
	cables, err := g.linksOf(wired, descriptions, names)
	if err != nil {
		b.Unobserved(o.ID, "fabric", "give each node a description of its own (the host name and the adapter, as rdma-ndd sets it), then run again: firstlight accept --from fabric", "%v", err)
		return comparison{}, false
	}
	switches := map[string]bool{}
	for _, n := range slices.Concat(design, wired) {
		if n.Kind == switchKind {
			switches[cmp.Or(descriptions[n.ID], n.Name)] = true
		}
	}
	return comparison{designed, cables, cabling.Compare(designed, cables), switches, o}, true
}

// linksOf are the links of nodes, each once, without those of nodes that are not compared.
// descriptions replace those of the nodes, by ID.
func (g *Gate) linksOf(nodes []infiniband.NetNode, descriptions map[string]string, names names) ([]cabling.Link, error) {
	type port struct {
		id     string
		number int
	}
	ends, holder := map[port]cabling.End{}, map[cabling.End]string{}
	for _, n := range nodes {
		if d, ok := descriptions[n.ID]; ok {
			n.Name = d
		}
		if g.notCompared(n, names) {
			continue
		}
		for _, l := range n.Links {
			e := cabling.End{Node: n.Name, Port: l.Port}
			if n.Kind != switchKind {
				e.Node = names.end("", n.Name, l.Port).name
				if n.Ports == 1 {
					e.Port = 0
				}
			}
			if other, ok := holder[e]; ok {
				return nil, fmt.Errorf("%s and %s are both %s", other, n.ID, e)
			}
			holder[e], ends[port{n.ID, l.Port}] = n.ID, e
		}
	}
	var out []cabling.Link
	for _, n := range nodes {
		for _, l := range n.Links {
			here, ok := ends[port{n.ID, l.Port}]
			there, also := ends[port{l.PeerID, l.PeerPort}]
			if link := cabling.NewLink(here, there); ok && also && link.A == here {
				out = append(out, link)
			}
		}
	}
	return out, nil
}

// notCompared reports whether a node is an aggregation node, of others, or left out of the run.
func (g *Gate) notCompared(n infiniband.NetNode, names names) bool {
	_, digits, _ := strings.Cut(n.ID, "-")
	others := slices.ContainsFunc(append([]string{"0x" + digits}, n.PortGUIDs...), func(text string) bool {
		id, _ := guid(text)
		return names.allows(n.Name, id)
	})
	host, _, _ := strings.Cut(names.end("", n.Name, firstPort).name, "/")
	return aggregation(n.Name) || others || n.Kind != switchKind && slices.Contains(g.site.Inventory.LeftOut, host)
}

// suspectsOf are the hosts' ends of a difference's cables, or one end of each where both are
// switches. The description of a switch may have a slash, as of an adapter ("MF0;leaf-1:MQM9700/U1").
func suspectsOf(d cabling.Difference, switches map[string]bool) []string {
	var out []string
	links := d.Designed
	if len(links) == 0 {
		links = d.Wired
	}
	for _, l := range links {
		a, b := endpoint{name: l.A.String(), adapter: !switches[l.A.Node]}, endpoint{name: l.B.String(), adapter: !switches[l.B.Node]}
		out = append(out, cableOf(a, b).near.name)
	}
	return out
}
