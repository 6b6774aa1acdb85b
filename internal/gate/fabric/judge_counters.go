package fabric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// judgeCounters judges the growth of error counters over the soak.
func (g *Gate) judgeCounters(b *check.Builder, obs []check.Observation, cabled topology, names names) {
	reports := check.OfKind(obs, kindCounters)
	if len(reports) < 2 {
		b.Unobserved("", "fabric", remedySSH, "error counters were read %d times, want once before and once after the soak", len(reports))
		return
	}
	first, last := reports[0], reports[len(reports)-1]
	before, errBefore := check.Decode[infiniband.ErrorReport](first)
	after, errAfter := check.Decode[infiniband.ErrorReport](last)
	for i, err := range []error{errBefore, errAfter} {
		if err != nil {
			b.Unobserved([]check.Observation{first, last}[i].ID, first.Target, remedySSH, "%v", err)
		}
	}
	if errBefore != nil || errAfter != nil {
		return
	}
	complete := g.answered(b, first, before, names) && g.answered(b, last, after, names)
	took := last.At.Sub(first.At)
	if soak := g.site.Fabric.Soak.D(); took < soak {
		b.Unobserved(last.ID, "fabric", "run again (firstlight accept --from fabric); the whole soak is needed", "error counters were observed for %s, the site requires %s", took, soak)
		return
	}
	g.judgeLeft(b, obs, last, before, after, names)
	was, now := index(before, names), index(after, names)
	worst, unlimited := 0.0, growths{}
	for _, port := range slices.Sorted(maps.Keys(union(was, now))) {
		if cabled[port].other() {
			continue
		}
		if !complete && (was[port] == nil || now[port] == nil) {
			continue // the port may be one that did not answer
		}
		if suspect, _ := cabled.suspect(port); g.leftOut(suspect) {
			continue
		}
		worst = max(worst, g.growth(b, last, port, was[port], now[port], cabled))
		g.withoutLimit(unlimited, port, was[port], now[port])
	}
	unlimited.note(b, last, cabled)
	b.Figure(check.Figure{Name: "ports watched", Value: float64(after.PortsChecked), Unit: "ports"}, check.Figure{Name: "largest increase beyond a limit", Value: worst, Unit: "errors", Limit: 0, Relation: "<=", Source: "profile fabric.counterLimits"})
}

// answered reports whether a reading has no failed queries of nodes that are judged, and lists every port that it counts.
func (g *Gate) answered(b *check.Builder, o check.Observation, r infiniband.ErrorReport, names names) bool {
	if n := r.Unlisted(); n > 0 {
		b.Unobserved(o.ID, "fabric", remedySSH, "ibqueryerrors counts %d ports with errors and lists %d: its output has lost lines", r.BadPorts, len(r.Ports))
		return false
	}
	failures := r.QueryFailures
	for _, description := range slices.Sorted(maps.Keys(r.Unanswered)) {
		if end := names.node(description); end.other || g.leftOut(end.name) {
			failures -= r.Unanswered[description]
			b.Note(o.ID, end.name, remedyNotJudged, "%d queries of error counters of %s were not answered", r.Unanswered[description], description)
		}
	}
	if failures <= 0 {
		return true
	}
	b.Unobserved(o.ID, "fabric",
		"find the nodes that do not answer (ibqueryerrors names them on stderr), update their firmware or reset them; then run again: firstlight accept --from fabric",
		"%d queries of error counters were not answered; their ports are not listed",
		failures)
	return false
}

// counts are a port's counters; unlisted counters are zero.
type counts map[string]uint64

func index(r infiniband.ErrorReport, names names) map[string]counts {
	out := map[string]counts{}
	for _, p := range r.Ports {
		if end := names.end(p.GUID, names.described(p.GUID, p.Node), p.Port); !aggregation(p.Node) && !end.other {
			out[end.name] = p.Counters
		}
	}
	return out
}

func union(a, b map[string]counts) map[string]bool {
	out := map[string]bool{}
	for name := range a {
		out[name] = true
	}
	for name := range b {
		out[name] = true
	}
	return out
}

// stuckAt is the maximum of the counters of PortCounters (InfiniBand specification,
// 16.1.3.5), at which they stop counting. A higher value is from the extended 64-bit
// counters.
var stuckAt = map[string]uint64{
	"SymbolErrorCounter": 0xffff, "LinkErrorRecoveryCounter": 0xff, "LinkDownedCounter": 0xff, "PortRcvErrors": 0xffff,
	"PortRcvRemotePhysicalErrors": 0xffff, "PortRcvSwitchRelayErrors": 0xffff, "PortXmitDiscards": 0xffff,
	"PortXmitConstraintErrors": 0xff, "PortRcvConstraintErrors": 0xff, "LocalLinkIntegrityErrors": 0xf,
	"ExcessiveBufferOverrunErrors": 0xf, "VL15Dropped": 0xffff,
}

const remedyConstraint = "the port dropped packets of a partition that it does not belong to: compare the partition keys of the hosts that send to it with its own (partitions.conf of opensm, or UFM), then run again: firstlight accept --from fabric"

// remedyCounter are the remedies of counters unrelated to the cable.
var remedyCounter = map[string]string{
	"PortXmitConstraintErrors": remedyConstraint, "PortRcvConstraintErrors": remedyConstraint,
	"VL15Dropped": "the port had no buffer for management packets: check which hosts scan the subnet (ibdiagnet, monitoring, a second subnet manager), then run again: firstlight accept --from fabric",
}

// growth judges one port, and returns its largest increase beyond a limit.
func (g *Gate) growth(b *check.Builder, o check.Observation, port string, was, now counts, cabled topology) float64 {
	suspect, described := cabled.suspect(port)
	worst := 0.0
	for _, name := range slices.Sorted(maps.Keys(g.profile.Fabric.CounterLimits)) {
		limit := g.profile.Fabric.CounterLimits[name]
		switch then, is := was[name], now[name]; {
		case is < then:
			b.Unobserved(o.ID, suspect, "do not clear counters during the soak, then run again: firstlight accept --from fabric", "counter %s of %s decreased from %d to %d: it was cleared during the soak, or the port disappeared", name, port, then, is)
		case float64(is-then) > limit.Value:
			worst = max(worst, float64(is-then))
			b.Fail(o.ID, suspect, cmp.Or(remedyCounter[name], remedyLink), "%s of %s grew by %d over the soak, at most %g is allowed (%s)", name, port, is-then, limit.Value, described)
		case stuckAt[name] > 0 && is == stuckAt[name]:
			b.Unobserved(o.ID, suspect, "clear it (ibclearerrors), then run again: firstlight accept --from fabric", "counter %s of %s is at its maximum (%d), so its growth is unknown", name, port, is)
		}
	}
	return worst
}
