package impact

import (
	"fmt"
	"strings"
)

// summary describes the plan in one line.
func (p *Plan) summary(tests int) string {
	if len(p.Recipes) == 0 {
		return fmt.Sprintf("nothing to do: the change affects none of the %d recipes", p.Total)
	}
	var parts []string
	count := map[int]int{}
	for _, s := range p.Recipes {
		count[s.Tier]++
	}
	for tier, what := range []string{"named", "generic", "affected", "of all recipes"} {
		if n := count[tier]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	text := fmt.Sprintf("%d of %d recipes: %s", len(p.Recipes), p.Total, strings.Join(parts, ", "))
	if stood := len(p.Recipes) - tests; stood > 0 {
		text += fmt.Sprintf("; %d tested on behalf of %d others", tests, stood)
	}
	if p.Everything != "" {
		text += "; all are selected because " + p.Everything
	}
	return text
}
