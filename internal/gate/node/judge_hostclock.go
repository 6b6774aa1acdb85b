package node

import (
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

// judgeHostClocks requires that the hosts' clocks agree within the profile's limit. If most of
// at least two hosts agree, clocks are compared with theirs, so that a wrong local clock blames
// no host; otherwise with the local clock. The time of the login does not count as a
// difference.
func (g *Gate) judgeHostClocks(b *check.Builder, hosts []*host) {
	limit := g.profile.Node.MaxClockSkew.Duration()
	offsets := map[*host]offset{}
	for _, h := range hosts {
		f := h.facts.fig
		if f.Host.Clock.IsZero() || f.Host.ClockAfter.IsZero() || f.AskedAt.IsZero() || f.AnsweredAt.IsZero() {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not report its clock")
			continue
		}
		is := offset{least: f.Host.ClockAfter.Sub(f.AnsweredAt), most: f.Host.Clock.Sub(f.AskedAt)}
		if is.most-is.least > coarsest*limit {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "its login took so long that its clock is known to %s only", (is.most - is.least).Round(time.Millisecond))
			continue
		}
		offsets[h] = is
	}
	usual, agreed := usualOffset(offsets, limit)
	reference := "that of most nodes"
	if !agreed {
		reference = "that of firstlight's own machine"
	}
	for _, h := range hosts {
		is, ok := offsets[h]
		if !ok {
			continue
		}
		if beyond := max(is.least-usual.most, usual.least-is.most); beyond > limit {
			b.Fail(h.facts.obs.ID, h.name, remedyClock, "its clock differs from %s by at least %s, expected at most %s", reference, beyond.Round(time.Millisecond), limit)
		}
	}
	if beyond := max(usual.least, -usual.most); beyond > limit {
		b.Note("", "firstlight's own machine", remedyClock, "its clock differs from that of most nodes by at least %s", beyond.Round(time.Millisecond))
	}
}

// usualOffset is the median offset. agreed is set if more than half of at least two hosts are
// within the limit of it, and its own range is within the limit.
func usualOffset(offsets map[*host]offset, limit time.Duration) (usual offset, agreed bool) {
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
