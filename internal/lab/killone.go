package lab

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// Kill kills one component's process, as a machine that fails would, and says which it
// was. The lab starts another in its place.
func (h *Handle) Kill(ctx context.Context, component string) (process.Identity, error) {
	st, err := h.Status(ctx)
	if err != nil {
		return process.Identity{}, err
	}
	for _, c := range st.Components {
		if c.Name != component {
			continue
		}
		if c.Identity.PID == 0 {
			return c.Identity, fmt.Errorf("kill %s of lab %s: it does not run", component, h.Name)
		}
		if err := process.Kill([]process.Identity{c.Identity}); err != nil {
			return c.Identity, fmt.Errorf("kill %s of lab %s: %w", component, h.Name, err)
		}
		return c.Identity, nil
	}
	return process.Identity{}, fmt.Errorf("kill %s of lab %s: it has no such component", component, h.Name)
}
