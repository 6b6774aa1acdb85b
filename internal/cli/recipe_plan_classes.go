package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// classesOf groups recipes that the scheduler can't tell apart, the one with the
// shortest name first. One that no cell can be made of is a class of its own.
func classesOf(t *tree.Tree, recipes []string) ([][]string, error) {
	source, problems := schedule.Open(t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	var out [][]string
	at := map[string]int{}
	sorted := slices.SortedFunc(slices.Values(recipes), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, name := range sorted {
		c, err := source.Case(name)
		if err != nil {
			return nil, fmt.Errorf("classes: %w", err)
		}
		i, known := at[c.Fingerprint]
		if c.Fingerprint == "" || !known {
			at[c.Fingerprint] = len(out)
			out = append(out, []string{name})
			continue
		}
		out[i] = append(out[i], name)
	}
	return out, nil
}
