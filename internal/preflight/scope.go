package preflight

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/plan"
)

// Gates are the steps of a plan that a run with these selections walks: one alone, or those from a
// step on; without steps that are not applicable.
func Gates(p plan.Plan, from, only string) ([]string, error) {
	order, err := p.Order()
	if err != nil {
		return nil, fmt.Errorf("select gates: %w", err)
	}
	var out []string
	reached := from == ""
	for _, s := range order {
		reached = reached || s.Name() == from
		if s.NotApplicable == "" && reached && (only == "" || s.Name() == only) {
			out = append(out, s.Name())
		}
	}
	for _, name := range []string{from, only} {
		if name != "" && !slices.ContainsFunc(order, func(s plan.Step) bool { return s.Name() == name }) {
			return nil, fmt.Errorf("select gates: %w: no step %q", plan.ErrInvalid, name)
		}
	}
	return out, nil
}
