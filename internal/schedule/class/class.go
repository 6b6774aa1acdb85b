package class

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/schedule/cell"
)

// Class are recipes that the scheduler can't tell apart.
type Class struct {
	Fingerprint string `json:"fingerprint"`
	// Representative stands for the others: the one with the shortest name, of
	// several the first.
	Representative string `json:"representative"`
	// Members by name, the representative among them.
	Members []string `json:"members"`
}

// Of groups cells by their fingerprints, in the order of the representatives' names.
func Of(cells []cell.Cell) []Class {
	members := map[string][]string{}
	for _, c := range cells {
		f := cell.Fingerprint(c)
		members[f] = append(members[f], c.Recipe)
	}
	var out []Class
	for f, names := range members {
		slices.Sort(names)
		out = append(out, Class{Fingerprint: f, Representative: slices.MinFunc(names, shorter), Members: names})
	}
	slices.SortFunc(out, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Representative, b.Representative), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out
}

func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
