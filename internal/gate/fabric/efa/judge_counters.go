package efa

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	remedyCounter = "look at the host's driver and at the instance's health (dmesg, EC2 status checks), replace the instance if it continues; then run again: firstlight accept --from fabric"
	remedyMissing = "update the EFA driver, which counts this, or use a profile without the limit (fabric.counterLimits); then run again: firstlight accept --from fabric"
	remedyClear   = "do not reload the driver during the soak, then run again: firstlight accept --from fabric"
)

// judgeCounters judges the growth of counters over the soak.
func (g *Gate) judgeCounters(b *check.Builder, obs []check.Observation, expected float64) {
	worst, watched := 0.0, 0
	for _, n := range g.site.Inventory.Nodes {
		var readings []check.Observation
		for _, o := range check.OfKind(obs, kindCounters) {
			if o.Target == n.Name {
				readings = append(readings, o)
			}
		}
		if len(readings) < 2 {
			b.Unobserved("", n.Name, remedySSH, "counters of %s were read %d times, want once before and once after the soak", n.Name, len(readings))
			continue
		}
		first, last := readings[0], readings[len(readings)-1]
		was, err := check.Decode[map[string]map[string]uint64](first)
		if err != nil {
			b.Unobserved(first.ID, n.Name, remedySSH, "%v", err)
			continue
		}
		now, err := check.Decode[map[string]map[string]uint64](last)
		if err != nil {
			b.Unobserved(last.ID, n.Name, remedySSH, "%v", err)
			continue
		}
		if over, soak := last.At.Sub(first.At), g.site.Fabric.Soak.D(); over < soak {
			b.Unobserved(last.ID, n.Name, remedySSH, "counters of %s were observed for %s, the site requires %s", n.Name, over, soak)
			continue
		}
		for _, device := range slices.Sorted(maps.Keys(now)) {
			watched++
			worst = max(worst, g.grown(b, last.ID, n.Name+"/"+device, was[device], now[device]))
		}
	}
	b.Figure(
		check.Figure{Name: "adapters watched", Value: float64(watched), Unit: "adapters", Limit: expected, Relation: "==", Source: "site inventory x profile node.hcas"},
		check.Figure{Name: "largest increase beyond a limit", Value: worst, Unit: "errors", Limit: 0, Relation: "<=", Source: "profile fabric.counterLimits"},
	)
}

// grown judges one adapter, and returns its largest increase beyond a limit.
func (g *Gate) grown(b *check.Builder, id, adapter string, was, now map[string]uint64) float64 {
	worst := 0.0
	for _, name := range slices.Sorted(maps.Keys(g.profile.Fabric.CounterLimits)) {
		limit := g.profile.Fabric.CounterLimits[name]
		then, before := was[name]
		is, after := now[name]
		switch {
		case !before || !after:
			b.Unobserved(id, adapter, remedyMissing, "%s does not count %s", adapter, name)
		case is < then:
			b.Unobserved(id, adapter, remedyClear, "counter %s of %s decreased from %d to %d: it was reset during the soak", name, adapter, then, is)
		case float64(is-then) > limit.Value:
			worst = max(worst, float64(is-then))
			b.Fail(id, adapter, remedyCounter, "%s of %s grew by %d over the soak, at most %g is allowed", name, adapter, is-then, limit.Value)
		}
	}
	return worst
}
