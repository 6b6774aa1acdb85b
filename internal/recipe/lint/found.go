package lint

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
)

// found are the problems that recipes share, each with the recipes that have it.
func (s *scheduling) found() diag.List {
	var out diag.List
	for p, recipes := range s.findings {
		slices.Sort(recipes)
		recipes = slices.Compact(recipes)
		switch n := len(recipes); n {
		case 1:
			p.Message += fmt.Sprintf(" (in %s)", recipes[0])
		default:
			p.Message += fmt.Sprintf(" (in %d recipes, such as %s)", n, recipes[0])
		}
		out = append(out, p)
	}
	return append(out, s.unknownPaths()...)
}
