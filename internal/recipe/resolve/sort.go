package resolve

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// sortOverlays puts overlays in the order in which they are merged: the less
// specific first, then those nearer to the root, then by name. Names are unique,
// so the order is total.
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
