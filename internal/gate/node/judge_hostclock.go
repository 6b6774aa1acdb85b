package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// offset is the range of a host's clock relative to the local clock.
type offset struct{ least, most time.Duration }

const (
	// enoughClocks is the number of hosts that can decide which clock is wrong.
	enoughClocks = 2
	// coarsest is the maximum width of a useful offset, as a multiple of the limit.
	coarsest = 10
)

// HostClock is the clock of a host, read between AskedAt and AnsweredAt by the local clock: Clock
// first and ClockAfter last. Unknown times are zero.
type HostClock struct {
	Host                string
	AskedAt, AnsweredAt time.Time
	Clock, ClockAfter   time.Time
}

// ClockDefect is a host whose clock is wrong; Unknown: the clock could not be compared.
type ClockDefect struct {
	Host, Message string
	Unknown       bool
}

// ClockDefects compares the clocks of hosts. If most of at least two hosts agree within the
// limit, clocks are compared with theirs, so that a wrong local clock blames no host; otherwise
// with the local clock. The time of the login does not count as a difference. local says that the
// local clock differs from that of most hosts; empty if it does not.
func ClockDefects(clocks []HostClock, limit time.Duration) (defects []ClockDefect, local string) {
	offsets := map[string]offset{}
	for _, c := range clocks {
		if c.Clock.IsZero() || c.ClockAfter.IsZero() || c.AskedAt.IsZero() || c.AnsweredAt.IsZero() {
			defects = append(defects, ClockDefect{c.Host, "does not report its clock", true})
			continue
		}
		is := offset{least: c.ClockAfter.Sub(c.AnsweredAt), most: c.Clock.Sub(c.AskedAt)}
		if is.most-is.least > coarsest*limit {
			defects = append(defects, ClockDefect{c.Host, fmt.Sprintf("its login took so long that its clock is known to %s only", (is.most - is.least).Round(time.Millisecond)), true})
			continue
		}
		offsets[c.Host] = is
	}
	usual, agreed := usualOffset(offsets, limit)
	reference := "that of most nodes"
	if !agreed {
		reference = "that of firstlight's own machine"
	}
	for _, c := range clocks {
		is, ok := offsets[c.Host]
		if !ok {
			continue
		}
		if beyond := max(is.least-usual.most, usual.least-is.most); beyond > limit {
			defects = append(defects, ClockDefect{c.Host, fmt.Sprintf("its clock differs from %s by at least %s, expected at most %s", reference, beyond.Round(time.Millisecond), limit), false})
		}
	}
	if beyond := max(usual.least, -usual.most); beyond > limit {
		local = fmt.Sprintf("its clock differs from that of most nodes by at least %s", beyond.Round(time.Millisecond))
	}
	return defects, local
}

// MaxClockSkew is the most that the clocks of hosts may differ.
func (g *Gate) MaxClockSkew() time.Duration { return g.profile.Node.MaxClockSkew.Duration() }

// judgeHostClocks requires that the hosts' clocks agree within the profile's limit.
func (g *Gate) judgeHostClocks(b *check.Builder, hosts []*host) {
	var clocks []HostClock
	ids := map[string]string{}
	for _, h := range hosts {
		f := h.facts.fig
		clocks = append(clocks, HostClock{h.name, f.AskedAt, f.AnsweredAt, f.Host.Clock, f.Host.ClockAfter})
		ids[h.name] = h.facts.obs.ID
	}
	defects, local := ClockDefects(clocks, g.MaxClockSkew())
	for _, d := range defects {
		if d.Unknown {
			b.Unobserved(ids[d.Host], d.Host, remedyUnobserved, "%s", d.Message)
			continue
		}
		b.Fail(ids[d.Host], d.Host, remedyClock, "%s", d.Message)
	}
	if local != "" {
		b.Note("", "firstlight's own machine", remedyClock, "%s", local)
	}
}

// usualOffset is the median offset. agreed is set if more than half of at least two hosts are
// within the limit of it, and its own range is within the limit.
func usualOffset(offsets map[string]offset, limit time.Duration) (usual offset, agreed bool) {
	if len(offsets) < enoughClocks {
		return offset{}, false
	}
	var least, most []time.Duration
	for _, o := range offsets {
		least, most = append(least, o.least), append(most, o.most)
	}
	slices.Sort(least)
	slices.Sort(most)
	usual = offset{least: least[len(least)/2], most: most[(len(most)-1)/2]}
	if usual.least > usual.most {
		usual.least, usual.most = usual.most, usual.least
	}
	near := 0
	for _, o := range offsets {
		if o.least-usual.most <= limit && usual.least-o.most <= limit {
			near++
		}
	}
	if spread := usual.most - usual.least; 2*near <= len(offsets) || spread > limit {
		return offset{}, false
	}
	return usual, true
}
