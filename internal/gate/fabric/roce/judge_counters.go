package roce

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyPause    = "find what holds the port: a host that does not receive (tx), or congestion behind the switch (rx): switch port counters, PFC watchdog, buffers; then run again: firstlight accept --from fabric"
	remedyDiscards = "compare PFC, buffers and headroom of the port with the switch's, and the DSCP of its traffic; then run again: firstlight accept --from fabric"
	remedyCNP      = "compare ECN of the port and the DSCP or priority of CNPs with the switch's, then run again: firstlight accept --from fabric"
	remedyClear    = "do not reset counters or the driver during the soak, then run again: firstlight accept --from fabric"
	remedyMissing  = "update the driver or the firmware so that it counts this, or use a profile without the limit (fabric.counterLimits); then run again: firstlight accept --from fabric"
)

// remedyOf are the remedies of counters that are not of the cable.
var remedyOf = map[string]string{
	"rx_discards_phy": remedyDiscards, "tx_discards_phy": remedyDiscards,
	"out_of_sequence": remedyDiscards, "packet_seq_err": remedyDiscards, "local_ack_timeout_err": remedyDiscards,
	"tx_pause_storm_warning_events": remedyPause, "tx_pause_storm_error_events": remedyPause,
	counterIgnored: remedyCNP,
}

// The counters of DCQCN: packets that arrived marked, notifications sent for them, and those of peers
// that the port ignored.
const (
	counterMarked   = "np_ecn_marked_roce_packets"
	counterNotified = "np_cnp_sent"
	counterIgnored  = "rp_cnp_ignored"
)

const remedySymbols = "update the firmware of the adapters (mlxfwmanager), so that they count it"

// counterSymbols is of a group of counters that some firmware lacks (ppcnt_statistical_group of Linux
// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c).
const counterSymbols = "rx_pcs_symbol_err_phy"

// reading is one reading of a port's counters.
type reading map[string]uint64

// growth is what a port counted between two readings.
type growth struct {
	v        view
	id       string
	was, now reading
	over     time.Duration
}

// judgeCounters judges the growth of counters over the soak.
func (g *Gate) judgeCounters(b *check.Builder, obs []check.Observation, views []view) {
	worst, paused, watched := 0.0, -1.0, 0
	var without []growth // ports without counterSymbols
	for _, v := range views {
		if v.netdev == "" {
			continue // reported for the port
		}
		grown, ok := g.growth(b, obs, v)
		if !ok {
			continue
		}
		watched++
		if _, limited := g.profile.Fabric.CounterLimits[counterSymbols]; limited && !grown.has(counterSymbols) {
			without = append(without, grown)
		}
		worst = max(worst, g.limits(b, grown))
		paused = max(paused, g.pauses(b, grown))
		if g.demands(site.WithoutECN) {
			notifications(b, grown)
		}
	}
	if len(without) > 0 {
		b.Note(without[0].id, "fabric", remedySymbols, "%d of %d ports, such as %s, do not count %s: symbol errors after FEC were not judged there", len(without), watched, without[0].v.name, counterSymbols)
	}
	b.Figure(
		check.Figure{Name: "ports watched", Value: float64(watched), Unit: "ports", Limit: float64(g.expected()), Relation: "==", Source: "site inventory x fabric.hcas"},
		check.Figure{Name: "largest increase beyond a limit", Value: worst, Unit: "errors", Limit: 0, Relation: "<=", Source: "profile fabric.counterLimits"},
	)
	if paused >= 0 {
		b.Figure(check.Figure{Name: "longest pause", Value: paused, Unit: "fraction", Limit: g.profile.Fabric.RoCE.MaxPause.Value, Relation: "<=", Source: g.profile.Fabric.RoCE.MaxPause.Source})
	}
}

// growth compares the first and the last reading of a port. Hosts with a reading that is missing or
// too early are reported once, at their first port.
func (g *Gate) growth(b *check.Builder, obs []check.Observation, v view) (growth, bool) {
	var readings []check.Observation
	for _, o := range check.OfKind(obs, kindCounters) {
		if o.Target == v.host.name {
			readings = append(readings, o)
		}
	}
	if len(readings) < 2 {
		v.host.once(b, "", "counters of %s were read %d times, want once before and once after the soak", v.host.name, len(readings))
		return growth{}, false
	}
	first, last := readings[0], readings[len(readings)-1]
	was, err := check.Decode[map[string]reading](first)
	if err != nil {
		v.host.once(b, first.ID, "%v", err)
		return growth{}, false
	}
	now, err := check.Decode[map[string]reading](last)
	if err != nil {
		v.host.once(b, last.ID, "%v", err)
		return growth{}, false
	}
	over := last.At.Sub(first.At)
	if soak := g.site.Fabric.Soak.D(); over < soak {
		v.host.once(b, last.ID, "counters of %s were observed for %s, the site requires %s", v.host.name, over, soak)
		return growth{}, false
	}
	return growth{v, last.ID, was[v.hca], now[v.hca], over}, true
}

// once reports a reading that the host lacks.
func (h *host) once(b *check.Builder, id, format string, args ...any) {
	if h.reported {
		return
	}
	h.reported = true
	b.Unobserved(id, h.name, remedySSH, format, args...)
}

// grew is the growth of one counter. A counter that is missing or that decreased is reported, and has none.
func (c growth) grew(b *check.Builder, name string) (uint64, bool) {
	was, before := c.was[name]
	now, after := c.now[name]
	switch {
	case !before || !after:
		b.Unobserved(c.id, c.v.name, remedyMissing, "%s (%s) does not count %s", c.v.name, c.v.netdev, name)
	case now < was:
		b.Unobserved(c.id, c.v.name, remedyClear, "counter %s of %s decreased from %d to %d: it was reset during the soak", name, c.v.name, was, now)
	default:
		return now - was, true
	}
	return 0, false
}

// limits judges a port's counters with a limit, and returns the largest increase beyond one.
func (g *Gate) limits(b *check.Builder, c growth) float64 {
	worst := 0.0
	for _, name := range slices.Sorted(maps.Keys(g.profile.Fabric.CounterLimits)) {
		limit := g.profile.Fabric.CounterLimits[name]
		if name == counterIgnored && !g.demands(site.WithoutECN) || name == counterSymbols && !c.has(name) {
			continue
		}
		by, _ := c.grew(b, name)
		if float64(by) > limit.Value {
			worst = max(worst, float64(by))
			b.Fail(c.id, c.v.name, cmp.Or(remedyOf[name], remedyLink), "%s of %s (%s) grew by %d over the soak, at most %g is allowed", name, c.v.name, c.v.netdev, by, limit.Value)
		}
	}
	return worst
}

// pauses judges for how much of the soak a port was paused on the site's priority, and paused its
// peer, and returns the larger part; below 0 if the port cannot be paused.
func (g *Gate) pauses(b *check.Builder, c growth) float64 {
	longest, limit := -1.0, g.profile.Fabric.RoCE.MaxPause.Value
	for _, side := range []struct{ direction, what string }{{"rx", "was paused by the switch"}, {"tx", "paused the switch"}} {
		name, how := g.pauseCounter(c, side.direction)
		if name == "" {
			continue
		}
		by, _ := c.grew(b, name) // microseconds
		part := float64(by) / float64(c.over.Microseconds())
		longest = max(longest, part)
		if part > limit {
			b.Fail(c.id, c.v.name, remedyPause, "%s (%s) %s %s for %.0f %% of the soak, at most %g %% is allowed: a pause storm", c.v.name, c.v.netdev, side.what, how, 100*part, 100*limit)
		}
	}
	return longest
}

// notifications requires that marked packets were answered.
func notifications(b *check.Builder, c growth) {
	marked, _ := c.grew(b, counterMarked)
	sent, ok := c.grew(b, counterNotified)
	if ok && marked > 0 && sent == 0 {
		b.Fail(c.id, c.v.name, remedyCNP, "%d packets arrived marked at %s (%s) over the soak, and it sent no congestion notification", marked, c.v.name, c.v.netdev)
	}
}

// pauseCounter is the counter of pauses in a direction, and what paused. mlx5 has that of a priority only while PFC is
// enabled on it, and a global one while link-level pause is: without both the port cannot be paused. The adapter is of
// mlx5: other drivers lack the counters ending in _phy, without which the gate is unobserved.
func (g *Gate) pauseCounter(c growth, direction string) (name, how string) {
	name = fmt.Sprintf("%s_prio%d_pause_duration", direction, g.priority())
	global := direction + "_global_pause_duration"
	switch {
	case g.demands(site.WithoutPFC) || c.has(name):
		return name, fmt.Sprintf("on priority %d", g.priority())
	case c.has(global):
		return global, "by link-level pause frames"
	default:
		return "", ""
	}
}

// has reports whether a reading has the counter.
func (c growth) has(name string) bool {
	_, before := c.was[name]
	_, after := c.now[name]
	return before || after
}
