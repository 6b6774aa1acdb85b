package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// growths are counters that grew and have no limit, by name.
type growths map[string]*grown

// grown is how one counter grew: on how many ports, and where most.
type grown struct {
	ports int
	port  string
	by    uint64
}

// withoutLimit collects the counters that grew on a port, have no limit in the profile and
// are not listed there as no errors.
func (g *Gate) withoutLimit(all growths, port string, was, now counts) {
	for name, is := range now {
		_, limited := g.profile.Fabric.CounterLimits[name]
		if limited || g.profile.Fabric.NotErrors[name] != "" || is <= was[name] {
			continue
		}
		if all[name] == nil {
			all[name] = &grown{}
		}
		c := all[name]
		c.ports++
		if by := is - was[name]; by > c.by {
			c.port, c.by = port, by
		}
	}
}

// note reports each counter, since no limit judges its growth.
func (all growths) note(b *check.Builder, o check.Observation, cabled topology) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		suspect, described := cabled.suspect(c.port)
		b.Note(o.ID, suspect, "look up what it counts; give it a limit in the profile (fabric.counterLimits), or its source in fabric.notErrors", "%s grew on %d ports over the soak, most by %d on %s (%s); the profile has no limit for it", name, c.ports, c.by, c.port, described)
	}
}
