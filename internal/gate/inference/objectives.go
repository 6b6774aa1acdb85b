package inference

import (
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Objectives are the limits of a request's latencies, in ms.
type Objectives struct{ TTFT, TPOT float64 }

// ObjectivesOf are the site's objectives, or else the profile's.
func ObjectivesOf(s *site.Site, p *profile.Profile) Objectives {
	g := &Gate{site: s, profile: p}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	return Objectives{TTFT: ttft, TPOT: tpot}
}

// Good is the number of measured requests within the objectives. With a client in the cluster, latencies count from the
// time when a request was due.
func (o Objectives) Good(f LoadFigures) (n int) {
	for _, q := range counted(f) {
		if q.Error == "" && q.TTFT != nil && q.TPOT != nil && *q.TTFT <= o.TTFT && *q.TPOT <= o.TPOT {
			n++
		}
	}
	return n
}
