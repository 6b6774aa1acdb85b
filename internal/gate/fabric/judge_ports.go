package fabric

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const remedyLink = "reseat or replace the cable and transceiver, clean the optics, check both ports' configuration; then walk again: firstlight accept --from fabric"

// judgePorts holds every adapter of every host against the site and profile.
func (g *Gate) judgePorts(v *verdict, obs []check.Observation, smLID int) {
	byHost := map[string]check.Observation{}
	for _, o := range check.OfKind(obs, kindPorts) {
		byHost[o.Target] = o
	}
	good, followed := 0, map[int][]string{}
	for _, n := range g.site.Inventory.Nodes {
		o, ok := byHost[n.Name]
		if !ok {
			v.miss(o, n.Name, "ibstat was not run on "+n.Name, remedySSH)
			continue
		}
		adapters, err := check.Decode[[]infiniband.HCA](o)
		if err != nil {
			v.miss(o, n.Name, err.Error(), remedySSH)
			continue
		}
		for _, name := range g.site.Fabric.HCAs {
			i := slices.IndexFunc(adapters, func(a infiniband.HCA) bool { return a.Name == name })
			if i < 0 {
				v.fail(o, n.Name+"/"+name, fmt.Sprintf("%s has no adapter %s", n.Name, name), "check that the adapter is seated and its driver loaded (lspci, dmesg)")
				continue
			}
			if g.port(v, o, n.Name+"/"+name, adapters[i], followed) {
				good++
			}
		}
	}
	g.follow(v, obs, smLID, followed)
	expected := len(g.site.Inventory.Nodes) * len(g.site.Fabric.HCAs)
	v.figures = append(v.figures, check.Figure{
		Name: "adapters active at rate", Value: float64(good), Unit: "ports", Limit: float64(expected), Relation: "==", Source: "site inventory x fabric.hcas",
	})
}

func (g *Gate) port(v *verdict, o check.Observation, suspect string, a infiniband.HCA, followed map[int][]string) bool {
	good := slices.ContainsFunc(a.Ports, func(p infiniband.HCAPort) bool { return p.Number == firstPort })
	if !good {
		v.miss(o, suspect, fmt.Sprintf("%s has no port %d in ibstat's output", suspect, firstPort), remedySSH)
	}
	for _, p := range a.Ports {
		rate := int(g.profile.Fabric.Rate.Value)
		switch {
		case p.State == "Initializing" && p.PhysicalState == "LinkUp":
			v.fail(o, suspectSM, fmt.Sprintf("%s is up but only Initializing: no subnet manager has configured it", suspect), remedySM)
			good = false
		case p.State != "Active" || p.PhysicalState != "LinkUp":
			v.fail(o, suspect, fmt.Sprintf("port %d of %s is %s / %s, not Active / LinkUp", p.Number, suspect, p.State, p.PhysicalState), remedyLink)
			good = false
		case p.RateGbps != rate:
			v.fail(o, suspect, fmt.Sprintf("port %d of %s runs at %d Gb/s, not %d", p.Number, suspect, p.RateGbps, rate), remedyLink)
			good = false
		default:
			followed[p.SMLID] = append(followed[p.SMLID], suspect)
		}
	}
	return good
}

// follow demands that every active adapter follows the one master.
func (g *Gate) follow(v *verdict, obs []check.Observation, smLID int, followed map[int][]string) {
	if smLID == 0 {
		return // judgeSM has said so
	}
	for _, lid := range slices.Sorted(maps.Keys(followed)) {
		if lid == smLID {
			continue
		}
		who := followed[lid]
		v.fail(check.OfKind(obs, kindPorts)[0], suspectSM,
			fmt.Sprintf("%d adapters (%s, ...) follow the subnet manager at LID %d, the master is at LID %d", len(who), who[0], lid, smLID), remedyTwin)
	}
}
