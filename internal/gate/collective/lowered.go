package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

var _ plan.Lowers = (*Gate)(nil)

// Lowered implements plan.Lowers: a maximum size below the profile's omits a part of the curve.
func (g *Gate) Lowered() []string {
	_, asked := g.sizes()
	own, err := nccl.ParseSize(asked)
	if err != nil {
		return []string{"workloads.collective.maxBytes: " + err.Error()}
	}
	demanded, err := nccl.ParseSize(g.profile.Collective.MaxBytes)
	if err != nil {
		return []string{"profile collective.maxBytes: " + err.Error()}
	}
	if own < demanded {
		return []string{fmt.Sprintf("workloads.collective.maxBytes is %s, the profile's is %s", asked, g.profile.Collective.MaxBytes)}
	}
	return nil
}
