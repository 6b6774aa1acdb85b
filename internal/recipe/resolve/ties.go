package resolve

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// Ties returns the values that two equally specific, unrelated overlays set differently, so
// that only their names decide. It requires Options.Explain.
func (r *Result) Ties() diag.List {
	var out diag.List
	for _, path := range slices.Sorted(maps.Keys(r.trace)) {
		origins := r.trace[path]
		last := origins[len(origins)-1]
		if last.overlay == nil {
			continue
		}
		for _, before := range origins[:len(origins)-1] {
			if tied(before, last) {
				out = append(out, rule.Tie.At(r.tree.ValuePos(last.File, last.Keys...),
					"%s is %s in %s, and %s in %s, which is equally specific", path, text(last.Value), last.Layer, text(before.Value), before.Layer))
				break
			}
		}
	}
	return out
}

func tied(before, last Origin) bool {
	a, b := before.overlay, last.overlay
	return a != nil && a != b && a.Applies && b.Applies && a.Criteria.Specificity() == b.Criteria.Specificity() &&
		!a.DescendsFrom(b) && !b.DescendsFrom(a) && !same(before.Value, last.Value)
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
