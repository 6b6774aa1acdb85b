package facility

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	seen := check.OfKind(obs, kindFacility)
	if len(seen) == 0 {
		return check.CouldNotObserve("the site's facility was not read")
	}
	f, err := check.Decode[facts](seen[0])
	if err != nil {
		return check.CouldNotObserve(err.Error())
	}
	failed := signOff(f.SignOff, seen[0])
	figures, over := budgets(f, seen[0].ID)
	failed = append(failed, over...)
	off, unseen, energised := g.power(obs)
	failed = append(failed, off...)
	if named := g.pdus(); named > 0 {
		figures = append(figures, check.Figure{
			Name: "PDUs energised", Value: float64(energised), Unit: "PDUs", Limit: float64(named), Relation: "==", Source: "site facility.redfish",
		})
	}
	switch {
	case len(failed) > 0:
		reason := failed[0].Message
		if len(failed) > 1 {
			reason += fmt.Sprintf(" (and %d more findings)", len(failed)-1)
		}
		j := check.Fail(reason, append(failed, unseen...)...)
		j.Figures = figures
		return j
	case len(unseen) > 0:
		j := check.CouldNotObserve(unseen[0].Message, unseen...)
		j.Figures = figures
		return j
	default:
		return check.Pass(fmt.Sprintf("signed off by %s until %s, within every budget, %d PDUs energised", f.SignOff.By, f.SignOff.Expires, energised), figures...)
	}
}

func (g *Gate) pdus() int {
	n := 0
	for _, r := range g.site.Facility.Redfish {
		n += len(r.PDUs)
	}
	return n
}

// signOff judges the attestation at the time it was looked at.
func signOff(s site.SignOff, o check.Observation) []check.Finding {
	finding := func(message, remedy string) []check.Finding {
		return []check.Finding{{Suspect: "site facility.signOff", Message: message, Remedy: remedy, Observations: []string{o.ID}}}
	}
	const sign = "have the facility's owner sign (by, role, reference, at, expires under facility.signOff), then walk again: firstlight accept --from facility"
	switch err := s.InForce(o.At); {
	case err == nil:
		return nil
	case errors.Is(err, site.ErrSignOffExpired):
		return finding(err.Error(), "have the facility inspected and signed off anew")
	default:
		return finding(err.Error(), sign)
	}
}

func budgets(f facts, id string) (figures []check.Figure, over []check.Finding) {
	for _, b := range []struct {
		name, unit string
		budget
	}{{"power", "kW", f.Power}, {"cooling", "kW", f.Cooling}, {"weight", "kg", f.Weight}} {
		figures = append(figures, check.Figure{
			Name: b.name + " demand", Value: b.Demand, Unit: b.unit, Limit: b.usable(), Relation: "<=",
			Source: "site facility." + b.name + "; profile: " + b.Source,
		})
		if b.Demand <= b.usable() && b.Demand > 0 {
			continue
		}
		over = append(over, check.Finding{
			Suspect: "site facility." + b.name,
			Message: fmt.Sprintf("%s: %d nodes demand %.1f %s, the facility provides %.1f %s (%.1f with a reserve of %.0f %%)",
				b.name, f.Nodes, b.Demand, b.unit, b.usable(), b.unit, b.Provided, b.Reserve*100),
			Remedy:       "provide more " + b.name + ", or take nodes out of the inventory, then walk again: firstlight accept --from facility",
			Observations: []string{id},
		})
	}
	return figures, over
}

// power holds every PDU and chassis that the site names against what its
// controller said.
func (g *Gate) power(obs []check.Observation) (off, unseen []check.Finding, energised int) {
	readings := map[string]check.Observation{}
	for _, o := range check.OfKind(obs, kindRedfish) {
		readings[o.Target] = o
	}
	for _, r := range g.site.Facility.Redfish {
		o, ok := readings[r.Name]
		reading, err := check.Decode[redfish.Reading](o)
		if !ok || err != nil {
			message := "controller " + r.Name + " was not read"
			if ok {
				message = err.Error()
			}
			unseen = append(unseen, check.Finding{
				Suspect: "controller " + r.Name, Message: message,
				Remedy:       "check the controller's URL, user, passwordFile and caFile in the site, and that it is on the network",
				Observations: evidence(o),
			})
			continue
		}
		named, up := namedOff(r, reading, o.ID)
		off, energised = append(off, named...), energised+up
		unseen = append(unseen, withoutMains(r, reading, o.ID)...)
		unseen = append(unseen, withoutState(r, reading, o.ID)...)
	}
	return off, unseen, energised
}

func evidence(o check.Observation) []string {
	if o.ID == "" {
		return nil
	}
	return []string{o.ID}
}

// withoutMains are the PDUs of the site that say nothing of their incoming circuits.
func withoutMains(r site.Redfish, reading redfish.Reading, id string) (unseen []check.Finding) {
	for _, p := range reading.PDUs {
		if slices.Contains(r.PDUs, p.ID) && len(p.Mains) == 0 {
			unseen = append(unseen, check.Finding{
				Suspect: p.ID, Message: fmt.Sprintf("PDU %s reports no mains: whether it is energised is not known", p.ID),
				Remedy: "update the controller's firmware, or take the PDU out of facility.redfish and have its feed signed off", Observations: []string{id},
			})
		}
	}
	return unseen
}

// withoutState are the chassis of the site that draw power and do not say that they are on:
// a host on standby draws some, too.
func withoutState(r site.Redfish, reading redfish.Reading, id string) (unseen []check.Finding) {
	for _, c := range reading.Chassis {
		if slices.Contains(r.Chassis, c.ID) && c.State == "" && c.Watts > 0 {
			unseen = append(unseen, check.Finding{
				Suspect: c.ID, Message: fmt.Sprintf("chassis %s draws %.0f W and reports no power state: whether it is on or on standby is not known", c.ID, c.Watts),
				Remedy: "update the controller's firmware, or take the chassis out of facility.redfish; gate node sees whether its host is up", Observations: []string{id},
			})
		}
	}
	return unseen
}

func namedOff(r site.Redfish, reading redfish.Reading, id string) (off []check.Finding, energised int) {
	pdus := map[string]redfish.PDU{}
	for _, p := range reading.PDUs {
		pdus[p.ID] = p
	}
	for _, name := range r.PDUs {
		p, ok := pdus[name]
		switch {
		case !ok:
			off = append(off, check.Finding{
				Suspect: name, Message: fmt.Sprintf("controller %s has no PDU %s", r.Name, name),
				Remedy: "correct the PDU's Redfish Id in the site, or connect it to its controller", Observations: []string{id},
			})
		case !p.Energised():
			off = append(off, check.Finding{
				Suspect: name, Message: fmt.Sprintf("PDU %s is not energised: state %s, health %s, mains %v", name, p.State, p.Health, p.Mains),
				Remedy: "close its breaker or restore its feed, then walk again: firstlight accept --from facility", Observations: []string{id},
			})
		default:
			energised++
		}
	}
	return append(off, chassisOff(r, reading, id)...), energised
}

// chassisOff are the chassis of the site that are not there, draw nothing, or say that
// they are not on.
func chassisOff(r site.Redfish, reading redfish.Reading, id string) (off []check.Finding) {
	chassis := map[string]redfish.Chassis{}
	for _, c := range reading.Chassis {
		chassis[c.ID] = c
	}
	for _, name := range r.Chassis {
		message := fmt.Sprintf("chassis %s draws no power, or controller %s does not have it", name, r.Name)
		switch c := chassis[name]; {
		case c.On(), c.State == "" && c.Watts > 0:
			continue
		case c.Watts > 0:
			message = fmt.Sprintf("chassis %s is not switched on: its power state is %s and it draws %.0f W", name, c.State, c.Watts)
		}
		off = append(off, check.Finding{
			Suspect: name, Message: message,
			Remedy: "power the node on, or correct the chassis' Redfish Id in the site", Observations: []string{id},
		})
	}
	return off
}
