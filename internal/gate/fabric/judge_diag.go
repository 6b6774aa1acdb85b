package fabric

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// remedyDiag names ibdiagnet's directory, which is in the command of the observation.
func remedyDiag(o check.Observation) string {
	dir, argv := "/var/tmp/ibdiagnet2", strings.Fields(o.Command) // its default
	if i := slices.Index(argv, "-o"); i >= 0 && i+1 < len(argv) {
		dir = argv[i+1]
	}
	return "read ibdiagnet's own report (" + dir + " on the host that ran it), repair what it names; then run again: firstlight accept --from fabric"
}

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
		stage.Errors -= g.notJudged(b, o, r, stage, cabled, names)
		if stage.Errors > 0 {
			faulty += stage.Errors
			g.diagErrors(b, o, r, stage, cabled, names)
		}
	}
	b.Figure(check.Figure{Name: "ibdiagnet errors", Value: float64(faulty), Unit: "errors", Limit: 0, Relation: "<=", Source: "ibdiagnet's summary of stages"})
	g.totals(b, o, r, names)
}

// closing is the last error line of a stage, about the stage as a whole.
const closing = "finished with errors"

// screenErrors is the number of errors of a check that ibdiagnet prints: far more than the ports of a subnet. By
// default it prints screenDefault and counts all ("Warnings and Errors Printing Policy" in its user manual).
const (
	screenOption  = "--screen_num_errs"
	screenErrors  = 1_000_000
	screenDefault = 5
)

// notJudged counts the errors of a stage about nodes of others, which it notes, and about nodes that are left out. If
// the stage has no other errors, its last line counts as one of them.
func (g *Gate) notJudged(b *check.Builder, o check.Observation, r infiniband.DiagnetReport, stage infiniband.DiagnetStage, cabled topology, names names) int {
	theirs, ended, ours := 0, 0, 0
	for _, e := range r.Errors {
		if e.Section != stage.Name {
			continue
		}
		switch link, ok, other := linkOf(e, cabled, names); {
		case other:
			theirs++
			b.Note(o.ID, link, "tell those who operate it; the gate does not judge nodes of fabric.others", "ibdiagnet: %s", e.Text)
		case ok && g.leftOut(link):
			theirs++
		case strings.Contains(e.Text, closing):
			ended++
		default:
			ours++
		}
	}
	printed := theirs + ours
	switch {
	case theirs == 0:
		return 0
	case stage.Errors > printed && printed >= screenDefault && !strings.Contains(o.Command, screenOption):
		b.Unobserved(o.ID, "ibdiagnet", "run again: firstlight accept --from fabric; ibdiagnet then runs with "+screenOption,
			"ibdiagnet counts %d errors of stage %q and prints %d: the others may be the site's", stage.Errors, stage.Name, printed)
		return stage.Errors - ours
	case ours == 0:
		return min(stage.Errors, theirs+ended)
	default:
		return theirs
	}
}

// diagErrors adds a finding for each link that a stage's error lines name, or one for the
// stage if they name no link.
func (g *Gate) diagErrors(b *check.Builder, o check.Observation, r infiniband.DiagnetReport, stage infiniband.DiagnetStage, cabled topology, names names) {
	suspect, remedy := "fabric", remedyDiag(o)
	if slices.Contains(ofSubnetManager, stage.Name) {
		suspect, remedy = suspectSM, remedySM
	}
	named := false
	var rest []string
	for _, e := range r.Errors {
		if e.Section != stage.Name {
			continue
		}
		link, ok, other := linkOf(e, cabled, names)
		if other || ok && g.leftOut(link) {
			continue
		}
		if suspect == suspectSM || !ok {
			rest = append(rest, e.Text)
			continue
		}
		named = true
		b.Fail(o.ID, link, remedyLink, "ibdiagnet: %s", e.Text)
	}
	if !named {
		b.Fail(o.ID, suspect, remedy, "ibdiagnet: stage %q has %d errors: %s", stage.Name, stage.Errors, strings.Join(uniform.Head(rest), "; "))
	}
}

// linkOf is the link or port of an error line; other: it belongs to others.
func linkOf(e infiniband.DiagnetError, cabled topology, names names) (link string, ok, other bool) {
	var ends []endpoint
	for _, p := range e.Ports {
		if end, ok := names.port(p); ok {
			ends = append(ends, end)
		}
	}
	switch len(ends) {
	case 0:
		return "", false, false
	case 1:
		suspect, _ := cabled.suspect(ends[0].name)
		return suspect, true, ends[0].other || cabled[ends[0].name].other()
	default:
		c := cableOf(ends[0], ends[1])
		return c.near.name, true, c.other()
	}
}

func (g *Gate) totals(b *check.Builder, o check.Observation, r infiniband.DiagnetReport, names names) {
	adapters := len(g.site.Inventory.Nodes) * len(g.site.Fabric.HCAs)
	switches := len(g.site.Fabric.Switches)
	if r.TotalNodes == nil || r.Switches == nil || r.CAs == nil {
		b.Unobserved(o.ID, "ibdiagnet", "run ibdiagnet without --skip on "+o.Target, "ibdiagnet printed no fabric summary, so the number of nodes is unknown")
		return
	}
	total, expected := *r.CAs+*r.Switches, adapters+switches
	others := names.otherNodes(total, expected)
	relation := "=="
	extra := len(g.site.Inventory.LeftOut) * len(g.site.Fabric.HCAs)
	if extra > 0 {
		relation = ">=" // adapters of these nodes may be missing
	}
	b.Figure(check.Figure{
		Name: "subnet nodes", Value: float64(total - others), Unit: "nodes", Limit: float64(expected), Relation: relation,
		Source: "site: inventory x fabric.hcas + fabric.switches (nodes of fabric.others, aggregation nodes and routers not counted)",
	})
	if others > 0 {
		b.Figure(check.Figure{Name: "subnet nodes of others", Value: float64(others), Unit: "nodes"})
	}
	switch {
	case others == 0 && (*r.CAs < adapters || *r.CAs > adapters+extra || *r.Switches != switches):
		b.Fail(o.ID, "fabric", "find the missing or additional nodes, or correct the site", "the subnet has %d switches and %d adapters, the site expects %d and %d", *r.Switches, *r.CAs, switches, adapters)
	case total-others < expected || total-others > expected+extra:
		b.Fail(o.ID, "fabric", "find the missing or additional nodes, or correct the site", "the subnet has %d switches and %d adapters, %d of them of others; the site expects %d and %d", *r.Switches, *r.CAs, others, switches, adapters)
	}
}
