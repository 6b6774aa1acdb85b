package resolve

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// sortOverlays sorts overlays in merge order: less specific first, then nearer to the root
// first, then by name. Names are unique, so the order is total.
func sortOverlays(overlays []*tree.Overlay, compat bool) {
	if compat {
		sortCompat(overlays)
		return
	}
	slices.SortFunc(overlays, func(a, b *tree.Overlay) int {
		return cmp.Or(
			cmp.Compare(a.Criteria.Specificity(), b.Criteria.Specificity()),
			cmp.Compare(a.Depth, b.Depth),
			cmp.Compare(a.Name, b.Name),
		)
	})
}
