package node

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// offset bounds how far a host's clock is ahead of ours.
type offset struct{ least, most time.Duration }

const (
	// enoughClocks of hosts can decide with ours which one is wrong; one cannot.
	enoughClocks = 2
	// coarsest is how many times the limit an offset's bounds may be apart to tell anything.
	coarsest = 10
)

// judgeHostClocks: no host's clock is further than the profile's limit from the others'.
// Where most of at least two agree they are held against those, so a wrong clock of ours
// names no host; otherwise against ours. The time that a login takes is no difference:
// only what is left beyond it counts.
func (g *Gate) judgeHostClocks(b *check.Builder, hosts []*host) {
	limit := time.Duration(g.profile.Node.MaxClockSkew.Value * float64(time.Second))
	offsets := map[*host]offset{}
	for _, h := range hosts {
		f := h.facts.fig
		if f.Host.Clock.IsZero() || f.Host.ClockAfter.IsZero() || f.AskedAt.IsZero() || f.AnsweredAt.IsZero() {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not say what its clock shows")
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
	whose := "that of most nodes"
	if !agreed {
		whose = "that of firstlight's own machine"
	}
	for _, h := range hosts {
		is, ok := offsets[h]
		if !ok {
			continue
		}
		if beyond := max(is.least-usual.most, usual.least-is.most); beyond > limit {
			b.Fail(h.facts.obs.ID, h.name, remedyClock, "its clock differs from %s by at least %s, expected at most %s", whose, beyond.Round(time.Millisecond), limit)
		}
	}
	if beyond := max(usual.least, -usual.most); beyond > limit {
		b.Note("", "firstlight's own machine", remedyClock, "its clock differs from that of most nodes by at least %s", beyond.Round(time.Millisecond))
	}
}

// usualOffset bounds the median offset; agreed says that it is that of most hosts: more
// than half of at least two lie within the limit of it, and it is known as closely.
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
