package gate

import (
	"math"

	"github.com/firstlight/firstlight/internal/check"
)

// Claims is the number of GPUs of the site that holds for every group: the largest part of its own GPUs
// that a group claims, of all GPUs. Gates that fit together in the site then fit in each group.
func (g grouped) Claims() int {
	total, part := 0, 0.0
	for i, v := range g.site.Views(g.profile) {
		gpus := len(v.Site.Inventory.Nodes) * int(v.Profile.Node.GPUs.Value)
		total += gpus
		if c, ok := g.members[i].gate.(interface{ Claims() int }); ok && gpus > 0 {
			part = max(part, float64(c.Claims())/float64(gpus))
		}
	}
	return int(math.Ceil(min(part, 1) * float64(total)))
}

// Judge implements check.Check: it passes if every group passes.
func (g grouped) Judge(obs []check.Observation) check.Judgement {
	var groups []string
	for _, m := range g.members {
		groups = append(groups, m.group)
	}
	return check.Combine(groups, obs, func(i int, of []check.Observation) check.Judgement { return g.members[i].gate.Judge(of) })
}
