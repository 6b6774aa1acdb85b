package efa

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
)

const (
	remedyCounter = "look at the host's driver and at the instance's health (dmesg, EC2 status checks), replace the instance if it continues; then run again: firstlight accept --from fabric"
	remedyMissing = "update the EFA driver, which counts this, or use a profile without the limit (fabric.counterLimits); then run again: firstlight accept --from fabric"
	remedyClear   = "do not reload the driver during the soak, then run again: firstlight accept --from fabric"
	remedyPath    = "compare the security groups of the instances (all traffic to and from the group itself), and look at the health of the instances that the host talks to (EC2 status checks); open a case with AWS if it continues; then run again: firstlight accept --from fabric"
	remedyOlder   = "update the EFA driver to 2.17.0 or later (aws-efa-installer); instance types before Nitro v4 do not count this"
)

// connectionRemedies has the remedy of each counter of connections: the driver has them since 2.17.0
// (amzn-drivers, kernel/linux/efa/rpm/efa.spec), on Nitro v4 and later (AWS EFA documentation). A counter that no
// adapter has is not judged.
var connectionRemedies = map[string]string{
	"impaired_remote_conn_events": remedyPath, "retrans_timeout_events": remedyPath, "unresponsive_remote_events": remedyPath,
}

// reading are the counters of an adapter before and after the soak.
type reading struct {
	id, adapter string
	was, now    map[string]uint64
}

// judgeCounters judges the growth of counters over the soak.
func (g *Gate) judgeCounters(b *check.Builder, obs []check.Observation, expected float64) {
	var all []reading
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
			all = append(all, reading{last.ID, n.Name + "/" + device, was[device], now[device]})
		}
	}
	worst, limits := 0.0, g.limits(b, all)
	for _, r := range all {
		worst = max(worst, r.grown(b, limits))
	}
	b.Figure(
		check.Figure{Name: "adapters watched", Value: float64(len(all)), Unit: "adapters", Limit: expected, Relation: "==", Source: "site inventory x profile node.hcas"},
		check.Figure{Name: "largest increase beyond a limit", Value: worst, Unit: "errors", Limit: 0, Relation: "<=", Source: "profile fabric.counterLimits"},
	)
}

// limits are those of the profile, without the counters of connections that no adapter has: a note names them.
func (g *Gate) limits(b *check.Builder, all []reading) map[string]profile.Figure {
	limits := maps.Clone(g.profile.Fabric.CounterLimits)
	var absent []string
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		counts := func(r reading) bool {
			_, before := r.was[name]
			_, after := r.now[name]
			return before || after
		}
		if connectionRemedies[name] != "" && len(all) > 0 && !slices.ContainsFunc(all, counts) {
			absent = append(absent, name)
			delete(limits, name)
		}
	}
	if len(absent) > 0 {
		b.Note(all[0].id, "fabric", remedyOlder, "no adapter counts %s: the growth of these counters was not judged", strings.Join(absent, ", "))
	}
	return limits
}

// grown judges one adapter, and returns its largest increase beyond a limit.
func (r reading) grown(b *check.Builder, limits map[string]profile.Figure) float64 {
	worst := 0.0
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit := limits[name]
		then, before := r.was[name]
		is, after := r.now[name]
		switch {
		case !before || !after:
			b.Unobserved(r.id, r.adapter, remedyMissing, "%s does not count %s", r.adapter, name)
		case is < then:
			b.Unobserved(r.id, r.adapter, remedyClear, "counter %s of %s decreased from %d to %d: it was reset during the soak", name, r.adapter, then, is)
		case float64(is-then) > limit.Value:
			worst = max(worst, float64(is-then))
			b.Fail(r.id, r.adapter, cmp.Or(connectionRemedies[name], remedyCounter), "%s of %s grew by %d over the soak, at most %g is allowed", name, r.adapter, is-then, limit.Value)
		}
	}
	return worst
}
