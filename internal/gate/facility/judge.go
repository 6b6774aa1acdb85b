package facility

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedySign  = "have the facility's owner sign (by, role, reference, at, expires under facility.signOff), then run the gate again: firstlight accept --from facility"
	remedyTwice = "give each of them its own Redfish Id, or ask the vendor of the controller"
	remedyRead  = "look at the log of the controller, restart it (Manager.Reset) or update its firmware; then run the gate again: firstlight accept --from facility"
	remedySite  = "run the gate again: firstlight accept --from facility"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	b := &check.Builder{}
	f, o, ok := check.Require[facts](b, obs, kindFacility, "", "site "+g.site.Name, remedySite)
	if !ok {
		return b.Judgement("")
	}
	if want := g.facts(); f.Nodes != want.Nodes || f.Power != want.Power || f.Cooling != want.Cooling || f.Weight != want.Weight {
		b.Unobserved(o.ID, "site "+g.site.Name, remedySite, "the recorded budgets and demands differ from the site's and the profile's")
	}
	judgeSignOff(b, f.SignOff, o)
	judgeBudgets(b, f, o.ID)
	energised, pdus := 0, 0
	for _, r := range g.site.Facility.Redfish {
		const remedy = "check the controller's URL, user, passwordFile and caFile in the site, and its network connection"
		reading, o, ok := check.Require[redfish.Reading](b, obs, kindRedfish, r.Name, "controller "+r.Name, remedy)
		if ok && reading.Controller != r.Name {
			b.Unobserved(o.ID, "controller "+r.Name, remedySite, "the reading is of controller %q", reading.Controller)
		} else if ok {
			energised += g.judgePDUs(b, r, reading, o.ID)
			g.judgeChassis(b, r, reading, o.ID)
		}
		pdus += len(r.PDUs)
	}
	if pdus > 0 {
		b.Figure(check.Figure{
			Name: "PDUs energised", Value: float64(energised), Unit: "PDUs", Limit: float64(pdus), Relation: "==", Source: "site facility.redfish",
		})
	}
	return b.Judgement(fmt.Sprintf("signed off by %s until %s; power, cooling and weight within budget; %d PDUs observed, %d energised", f.SignOff.By, f.SignOff.Expires, pdus, energised))
}

// judgeSignOff judges the sign-off at the time of the observation.
func judgeSignOff(b *check.Builder, s site.SignOff, o check.Observation) {
	err, remedy := s.InForce(o.At), remedySign
	if errors.Is(err, site.ErrSignOffExpired) {
		remedy = "have the facility inspected and signed off again"
	}
	if err != nil {
		b.Fail(o.ID, "site facility.signOff", remedy, "%v", err)
	}
}

func judgeBudgets(b *check.Builder, f facts, id string) {
	for _, of := range []struct {
		name, unit string
		budget
	}{{"power", "kW", f.Power}, {"cooling", "kW", f.Cooling}, {"weight", "kg", f.Weight}} {
		b.Figure(check.Figure{
			Name: of.name + " demand", Value: of.Demand, Unit: of.unit, Limit: of.usable(), Relation: "<=",
			Source: "site facility." + of.name + "; profile: " + of.Source,
		})
		if of.Demand > of.usable() || of.Demand <= 0 {
			b.Fail(id, "site facility."+of.name, "provide more "+of.name+", or remove nodes from the inventory, then run the gate again: firstlight accept --from facility",
				"%s: %d nodes demand %.1f %s, the facility provides %.1f %s (%.1f with a reserve of %.0f %%)",
				of.name, f.Nodes, of.Demand, of.unit, of.usable(), of.unit, of.Provided, of.Reserve*100)
		}
	}
}

// suspect names a PDU or chassis of a controller. An Id is unique within its controller only: PDUs and BMCs call their
// resource "1", "Self" or "System.Embedded.1". The chassis of a controller that is named like a node is a part of that node.
func (g *Gate) suspect(r site.Redfish, id string) string {
	nodes, named := g.site.NodeNames(), 0
	for _, other := range g.site.Facility.Redfish {
		for _, ids := range [][]string{other.PDUs, other.Chassis} {
			if slices.Contains(ids, id) {
				named++
			}
		}
	}
	if slices.Contains(nodes, id) || named == 1 && !slices.Contains(nodes, r.Name) {
		return id
	}
	return r.Name + "/" + id
}

// judgePDUs judges the PDUs that the site names and returns how many are energised.
func (g *Gate) judgePDUs(b *check.Builder, r site.Redfish, reading redfish.Reading, id string) (energised int) {
	const remedyUnknown = "update the controller's firmware, or remove the PDU from facility.redfish and have its feed signed off"
	for _, name := range r.PDUs {
		suspect := g.suspect(r, name)
		found := slices.DeleteFunc(slices.Clone(reading.PDUs), func(p redfish.PDU) bool { return p.ID != name })
		switch {
		case len(found) == 0:
			b.Fail(id, suspect, "correct the PDU's Redfish Id in the site, or connect it to its controller", "controller %s has no PDU %s", r.Name, name)
		case len(found) > 1:
			b.Unobserved(id, suspect, remedyTwice, "controller %s lists PDU %s %d times: which one is meant is unknown", r.Name, name, len(found))
		case found[0].Down():
			b.Fail(id, suspect, "close its breaker or restore its feed, then run the gate again: firstlight accept --from facility",
				"controller %s: PDU %s is not energised: state %q, health %q, mains %q", r.Name, name, found[0].State, found[0].Health, found[0].Mains)
		case found[0].Unread != "":
			b.Unobserved(id, suspect, remedyRead, "controller %s does not show PDU %s: %s", r.Name, name, found[0].Unread)
		case len(found[0].Mains) == 0:
			b.Unobserved(id, suspect, remedyUnknown, "controller %s: PDU %s reports no mains: whether it is energised is unknown", r.Name, name)
		case !found[0].Energised():
			b.Unobserved(id, suspect, remedyUnknown, "controller %s: PDU %s does not report whether it is enabled and each of its mains is on: state %q, mains %q", r.Name, name, found[0].State, found[0].Mains)
		default:
			energised++
		}
	}
	return energised
}

// judgeChassis judges the chassis that the site names. A chassis without a power state that
// draws power is unobserved: a host on standby draws power too. A chassis that is on without a known draw is unobserved too.
func (g *Gate) judgeChassis(b *check.Builder, r site.Redfish, reading redfish.Reading, id string) {
	const remedy = "power the node on, or correct the chassis' Redfish Id in the site"
	for _, name := range r.Chassis {
		suspect := g.suspect(r, name)
		found := slices.DeleteFunc(slices.Clone(reading.Chassis), func(c redfish.Chassis) bool { return c.ID != name })
		if len(found) == 0 {
			b.Fail(id, suspect, remedy, "controller %s does not list chassis %s", r.Name, name)
			continue
		}
		c := found[0]
		switch {
		case len(found) > 1:
			b.Unobserved(id, suspect, remedyTwice, "controller %s lists chassis %s %d times: which one is meant is unknown", r.Name, name, len(found))
		case c.Unread != "":
			b.Unobserved(id, suspect, remedyRead, "controller %s does not show chassis %s: %s", r.Name, name, c.Unread)
		case c.State == "" && c.Watts > 0:
			b.Unobserved(id, suspect, "update the controller's firmware, or remove the chassis from facility.redfish; gate node checks whether its host is up",
				"controller %s: chassis %s draws %.0f W and reports no power state: whether it is on or on standby is unknown", r.Name, name, c.Watts)
		case c.On():
		case c.Unmetered && (c.State == "" || c.State == "On"):
			b.Unobserved(id, suspect, "run the gate again once the controller shows the draw, or remove the chassis from facility.redfish; gate node checks whether its host is up",
				"controller %s shows no draw of chassis %s; its power state is %q: whether it draws power is unknown", r.Name, name, c.State)
		case c.Unmetered:
			b.Fail(id, suspect, remedy, "controller %s: chassis %s is not switched on: its power state is %s", r.Name, name, c.State)
		case c.Watts > 0:
			b.Fail(id, suspect, remedy, "controller %s: chassis %s is not switched on: its power state is %s and it draws %.0f W", r.Name, name, c.State, c.Watts)
		default:
			b.Fail(id, suspect, remedy, "controller %s: chassis %s draws no power; its power state is %q", r.Name, name, c.State)
		}
	}
}
