package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const remedyLink = "reseat or replace the cable and transceiver, clean the optics, check both ports' configuration; then run again: firstlight accept --from fabric"

// judgePorts compares every adapter of every host with the site and the profile.
func (g *Gate) judgePorts(b *check.Builder, obs []check.Observation, smLID int) {
	byHost := map[string]check.Observation{}
	for _, o := range check.OfKind(obs, kindPorts) {
		byHost[o.Target] = o
	}
	good, followed := 0, map[int][]string{}
	for _, n := range g.site.Inventory.Nodes {
		o, ok := byHost[n.Name]
		if !ok {
			b.Unobserved(o.ID, n.Name, remedySSH, "ibstat was not run on %s", n.Name)
			continue
		}
		adapters, err := check.Decode[[]infiniband.HCA](o)
		if err != nil {
			b.Unobserved(o.ID, n.Name, remedySSH, "%v", err)
			continue
		}
		for _, name := range g.site.Fabric.HCAs {
			i := slices.IndexFunc(adapters, func(a infiniband.HCA) bool { return a.Name == name })
			if i < 0 {
				b.Fail(o.ID, n.Name+"/"+name, "check that the adapter is seated and its driver loaded (lspci, dmesg)", "%s has no adapter %s", n.Name, name)
				continue
			}
			if g.port(b, o, n.Name+"/"+name, adapters[i], followed) {
				good++
			}
		}
	}
	g.follow(b, obs, smLID, followed)
	expected := len(g.site.Inventory.Nodes) * len(g.site.Fabric.HCAs)
	b.Figure(check.Figure{
		Name: "adapters active at rate", Value: float64(good), Unit: "ports", Limit: float64(expected), Relation: "==", Source: "site inventory x fabric.hcas",
	})
}

// port judges the adapter's port on the fabric. A second port may be idle or on another network.
func (g *Gate) port(b *check.Builder, o check.Observation, suspect string, a infiniband.HCA, followed map[int][]string) bool {
	i := slices.IndexFunc(a.Ports, func(p infiniband.HCAPort) bool { return p.Number == firstPort })
	if i < 0 {
		b.Unobserved(o.ID, suspect, remedySSH, "%s has no port %d in ibstat's output", suspect, firstPort)
		return false
	}
	p, rate := a.Ports[i], int(g.profile.Fabric.Rate.Value)
	switch {
	case p.State == "Initializing" && p.PhysicalState == "LinkUp":
		b.Fail(o.ID, suspectSM, remedySM, "%s is up but only Initializing: no subnet manager has configured it", suspect)
	case p.State != "Active" || p.PhysicalState != "LinkUp":
		b.Fail(o.ID, suspect, remedyLink, "port %d of %s is %s / %s, want Active / LinkUp", p.Number, suspect, p.State, p.PhysicalState)
	case p.RateGbps != rate:
		b.Fail(o.ID, suspect, remedyLink, "port %d of %s runs at %d Gb/s, want %d", p.Number, suspect, p.RateGbps, rate)
	default:
		followed[p.SMLID] = append(followed[p.SMLID], suspect)
		return true
	}
	return false
}

// follow requires that every active adapter follows the master subnet manager.
func (g *Gate) follow(b *check.Builder, obs []check.Observation, smLID int, followed map[int][]string) {
	if smLID == 0 {
		return // reported by judgeSM
	}
	for _, lid := range slices.Sorted(maps.Keys(followed)) {
		if lid == smLID {
			continue
		}
		adapters := followed[lid]
		b.Fail(check.OfKind(obs, kindPorts)[0].ID, suspectSM, remedyTwin, "%d adapters (%s, ...) follow the subnet manager at LID %d, the master is at LID %d", len(adapters), adapters[0], lid, smLID)
	}
}
