package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

var _ plan.Lowers = (*Gate)(nil)

// Lowered implements plan.Lowers: a smaller maximum size or a larger minimum size than the
// profile's omits a part of the curve.
func (g *Gate) Lowered() []string {
	least, most := g.sizes()
	var out []string
	for _, size := range []struct {
		key, own, profile string
		lowers            func(own, profile int64) bool
	}{
		{"minBytes", least, g.profile.Collective.MinBytes, func(own, profile int64) bool { return own > profile }},
		{"maxBytes", most, g.profile.Collective.MaxBytes, func(own, profile int64) bool { return own < profile }},
	} {
		own, err := nccl.ParseSize(size.own)
		if err != nil {
			return []string{"workloads.collective." + size.key + ": " + err.Error()}
		}
		demanded, err := nccl.ParseSize(size.profile)
		if err != nil {
			return []string{"profile collective." + size.key + ": " + err.Error()}
		}
		if size.lowers(own, demanded) {
			out = append(out, fmt.Sprintf("workloads.collective.%s is %s, the profile's is %s", size.key, size.own, size.profile))
		}
	}
	return out
}
