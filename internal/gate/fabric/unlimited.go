package fabric

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// growths are growing counters without a limit, by name.
type growths map[string]*grown

// grown is the growth of one counter: the number of ports, and the port with the most.
type grown struct {
	ports int
	port  string
	by    uint64
}

// withoutLimit collects the counters that grew on a port and that the profile has neither a
// limit nor an exception for.
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

// note reports each counter, since its growth has no limit.
func (all growths) note(b *check.Builder, o check.Observation, cabled topology) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		suspect, described := cabled.suspect(c.port)
		b.Note(o.ID, suspect,
			"look up what it counts; give it a limit in the profile (fabric.counterLimits), or its source in fabric.notErrors",
			"%s grew on %d ports over the soak, most by %d on %s (%s); the profile has no limit for it",
			name, c.ports, c.by, c.port, described)
	}
}
