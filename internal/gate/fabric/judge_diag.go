package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const remedyDiag = "read ibdiagnet's own report (/var/tmp/ibdiagnet2 on the host that ran it), repair what it names; then run again: firstlight accept --from fabric"

// ofSubnetManager are the stages whose errors the subnet manager causes: it assigns LIDs.
var ofSubnetManager = []string{"Subnet Manager", "Lids Check"}

// judgeDiag judges the results of ibdiagnet's stages and its number of nodes.
func (g *Gate) judgeDiag(b *check.Builder, obs []check.Observation, cabled topology, names names) {
	r, o, ok := check.RequireLast[infiniband.DiagnetReport](b, obs, kindDiag, "", g.site.Reach.SSH.FabricHost, remedySSH)
	if !ok {
		return
	}
	for _, name := range g.profile.Fabric.RequiredStages {
		if stage, ok := r.Stage(name); !ok || stage.Skipped {
			b.Unobserved(o.ID, "ibdiagnet", "run ibdiagnet without --skip on "+o.Target, "ibdiagnet did not run stage %q: it was skipped, or the run ended early", name)
		}
	}
	faulty := 0
	for _, stage := range r.Stages {
		if stage.Errors > 0 {
			faulty += stage.Errors
			diagErrors(b, o, r, stage, cabled, names)
		}
	}
	b.Figure(check.Figure{Name: "ibdiagnet errors", Value: float64(faulty), Unit: "errors", Limit: 0, Relation: "<=", Source: "ibdiagnet's summary of stages"})
	g.totals(b, o, r)
}

// diagErrors adds a finding for each link that a stage's error lines name, or one for the
// stage if they name no link.
func diagErrors(b *check.Builder, o check.Observation, r infiniband.DiagnetReport, stage infiniband.DiagnetStage, cabled topology, names names) {
	suspect, remedy := "fabric", remedyDiag
	if slices.Contains(ofSubnetManager, stage.Name) {
		suspect, remedy = suspectSM, remedySM
	}
	named := false
	var rest []string
	for _, e := range r.Errors {
		if e.Section != stage.Name {
			continue
		}
		link, ok := linkOf(e, cabled, names)
		if suspect == suspectSM || !ok {
			rest = append(rest, e.Text)
			continue
		}
		named = true
		b.Fail(o.ID, link, remedyLink, "ibdiagnet: %s", e.Text)
	}
	if !named {
		b.Fail(o.ID, suspect, remedy, "ibdiagnet: stage %q has %d errors: %s", stage.Name, stage.Errors, strings.Join(head(rest), "; "))
	}
}

// linkOf is the link or port of an error line.
func linkOf(e infiniband.DiagnetError, cabled topology, names names) (string, bool) {
	var ends []endpoint
	for _, p := range e.Ports {
		if end, ok := names.port(p.NodeGUID, p.Port, p.Label); ok {
			ends = append(ends, end)
		}
	}
	switch len(ends) {
	case 0:
		return "", false
	case 1:
		suspect, _ := cabled.suspect(ends[0].name)
		return suspect, true
	default:
		return cableOf(ends[0], ends[1]).near.name, true
	}
}

// head limits the lines in a message; all of them are in the evidence.
func head(lines []string) []string {
	const most = 5
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
}

func (g *Gate) totals(b *check.Builder, o check.Observation, r infiniband.DiagnetReport) {
	adapters := len(g.site.Inventory.Nodes) * len(g.site.Fabric.HCAs)
	switches := len(g.site.Fabric.Switches)
	if r.TotalNodes == nil || r.Switches == nil || r.CAs == nil {
		b.Unobserved(o.ID, "ibdiagnet", "run ibdiagnet without --skip on "+o.Target, "ibdiagnet printed no fabric summary, so the number of nodes is unknown")
		return
	}
	b.Figure(check.Figure{
		Name: "subnet nodes", Value: float64(*r.CAs + *r.Switches), Unit: "nodes", Limit: float64(adapters + switches), Relation: "==",
		Source: "site: inventory x fabric.hcas + fabric.switches (aggregation nodes and routers not counted)",
	})
	if *r.CAs != adapters || *r.Switches != switches {
		b.Fail(o.ID, "fabric", "find the missing or additional nodes, or correct the site", "the subnet has %d switches and %d adapters, the site expects %d and %d", *r.Switches, *r.CAs, switches, adapters)
	}
}
