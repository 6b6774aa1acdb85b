package lint

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
)

// found returns the problems shared by recipes, each with its recipes.
func (s *scheduling) found() diag.List {
	var out diag.List
	for p, recipes := range s.findings {
		slices.Sort(recipes)
		recipes = slices.Compact(recipes)
		switch n := len(recipes); n {
		case 1:
			p.Message += fmt.Sprintf(" (in %s)", recipes[0])
		default:
			p.Message += fmt.Sprintf(" (in %d recipes, for example %s)", n, recipes[0])
		}
		out = append(out, p)
	}
	return append(out, s.unknownPaths()...)
}
