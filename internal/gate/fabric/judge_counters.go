package fabric

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// judgeCounters judges how much error counters grew over the soak.
func (g *Gate) judgeCounters(v *verdict, obs []check.Observation, cabled topology, who names) {
	reports := check.OfKind(obs, kindCounters)
	if len(reports) < 2 {
		v.miss(check.Observation{}, "fabric", fmt.Sprintf("error counters were read %d times, before and after the soak are needed", len(reports)), remedySSH)
		return
	}
	first, last := reports[0], reports[len(reports)-1]
	before, errBefore := check.Decode[infiniband.ErrorReport](first)
	after, errAfter := check.Decode[infiniband.ErrorReport](last)
	for i, err := range []error{errBefore, errAfter} {
		if err != nil {
			v.miss([]check.Observation{first, last}[i], first.Target, err.Error(), remedySSH)
		}
	}
	if errBefore != nil || errAfter != nil {
		return
	}
	complete := unanswered(v, first, before) && unanswered(v, last, after)
	took := last.At.Sub(first.At)
	if soak := g.site.Fabric.Soak.D(); took < soak {
		v.miss(last, "fabric", fmt.Sprintf("error counters were watched for %s, the site demands %s", took, soak), "walk again (firstlight accept --from fabric); the whole soak is needed")
		return
	}
	if after.NodesChecked < before.NodesChecked {
		v.fail(last, "fabric", fmt.Sprintf("%d nodes left the subnet during the soak (%d, then %d)", before.NodesChecked-after.NodesChecked, before.NodesChecked, after.NodesChecked),
			"find which left (iblinkinfo, ibstat on the hosts), reseat its cable, then walk again: firstlight accept --from fabric")
	}
	was, now := index(before, who), index(after, who)
	worst, unlimited := 0.0, growths{}
	for _, port := range slices.Sorted(maps.Keys(union(was, now))) {
		if !complete && (was[port] == nil || now[port] == nil) {
			continue // it may be one that did not answer
		}
		worst = max(worst, g.growth(v, last, port, was[port], now[port], cabled))
		g.withoutLimit(unlimited, port, was[port], now[port])
	}
	unlimited.note(v, last, cabled)
	v.figures = append(v.figures,
		check.Figure{Name: "ports watched", Value: float64(after.PortsChecked), Unit: "ports"},
		check.Figure{Name: "largest increase beyond a limit", Value: worst, Unit: "errors", Limit: 0, Relation: "<=", Source: "profile fabric.counterLimits"})
}

// unanswered notes queries that failed in a reading; true when there are none.
func unanswered(v *verdict, o check.Observation, r infiniband.ErrorReport) bool {
	if r.QueryFailures == 0 {
		return true
	}
	v.miss(o, "fabric", fmt.Sprintf("%d queries of error counters were not answered, and a port that does not answer is not listed", r.QueryFailures),
		"find the nodes that do not answer (ibqueryerrors names them on stderr), update their firmware or reset them; then walk again: firstlight accept --from fabric")
	return false
}

// counts are a port's counters; a counter that is not listed is zero.
type counts map[string]uint64

func index(r infiniband.ErrorReport, who names) map[string]counts {
	out := map[string]counts{}
	for _, p := range r.Ports {
		if !aggregation(p.Node) {
			out[who.end(p.GUID, p.Node, p.Port).name] = p.Counters
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

// stuckAt is where the counters of PortCounters stop counting (InfiniBand
// specification, 16.1.3.5): from there on an increase can't be seen. One that is
// higher is of the extended counters, of 64 bits.
var stuckAt = map[string]uint64{
	"SymbolErrorCounter": 0xffff, "LinkErrorRecoveryCounter": 0xff, "LinkDownedCounter": 0xff, "PortRcvErrors": 0xffff,
	"PortRcvRemotePhysicalErrors": 0xffff, "PortRcvSwitchRelayErrors": 0xffff, "PortXmitDiscards": 0xffff,
	"PortXmitConstraintErrors": 0xff, "PortRcvConstraintErrors": 0xff, "LocalLinkIntegrityErrors": 0xf,
	"ExcessiveBufferOverrunErrors": 0xf, "VL15Dropped": 0xffff,
}

const remedyConstraint = "the port dropped packets of a partition that it is not in: compare the partition keys of the hosts that send to it with its own (partitions.conf of opensm, or UFM), then walk again: firstlight accept --from fabric"

// remedyCounter are the remedies of counters that are not about the cable.
var remedyCounter = map[string]string{
	"PortXmitConstraintErrors": remedyConstraint, "PortRcvConstraintErrors": remedyConstraint,
	"VL15Dropped": "the port had no buffer for management packets: check which hosts scan the subnet (ibdiagnet, monitoring, a second subnet manager), then walk again: firstlight accept --from fabric",
}

// growth judges one port, and returns its largest increase beyond a limit.
func (g *Gate) growth(v *verdict, o check.Observation, port string, was, now counts, cabled topology) float64 {
	suspect, described := cabled.suspect(port)
	worst := 0.0
	for _, name := range slices.Sorted(maps.Keys(g.profile.Fabric.CounterLimits)) {
		limit := g.profile.Fabric.CounterLimits[name]
		switch then, is := was[name], now[name]; {
		case is < then:
			v.miss(o, suspect, fmt.Sprintf("counter %s of %s went from %d to %d: somebody cleared it during the soak, or the port went away", name, port, then, is), "let nobody clear counters, then walk again: firstlight accept --from fabric")
		case float64(is-then) > limit.Value:
			worst = max(worst, float64(is-then))
			v.fail(o, suspect, fmt.Sprintf("%s of %s grew by %d over the soak, at most %g is allowed (%s)", name, port, is-then, limit.Value, described), cmp.Or(remedyCounter[name], remedyLink))
		case stuckAt[name] > 0 && is == stuckAt[name]:
			v.miss(o, suspect, fmt.Sprintf("counter %s of %s stands at its end (%d), so no increase can be seen", name, port, is), "clear it (ibclearerrors), then walk again: firstlight accept --from fabric")
		}
	}
	return worst
}
