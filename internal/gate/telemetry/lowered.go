package telemetry

import (
	"github.com/firstlight/firstlight/internal/plan"
)

var _ plan.Lowers = (*Gate)(nil)

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string { return g.lowered }
