package query

import (
	"maps"
	"slices"
)

// Leaf is one value of a document with its path.
type Leaf struct {
	Path  Path
	Value any
}

// Flatten returns the leaves of a document sorted by path. Lists and empty mappings are leaves.
// If set is not nil, the entries of the lists for which it returns true are separate leaves.
func Flatten(doc any, set func(Path) bool) []Leaf {
	var out []Leaf
	flatten(doc, nil, set, &out)
	return out
}

func flatten(v any, at Path, set func(Path) bool, out *[]Leaf) {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 && len(at) > 0 {
			*out = append(*out, Leaf{Path: at, Value: x})
		}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			flatten(x[key], append(slices.Clone(at), key), set, out)
		}
	case []any:
		if set == nil || !set(at) {
			*out = append(*out, Leaf{Path: at, Value: x})
			return
		}
		for _, item := range x {
			if text, ok := item.(string); ok {
				*out = append(*out, Leaf{Path: append(slices.Clone(at), text), Value: true})
			}
		}
	default:
		*out = append(*out, Leaf{Path: at, Value: x})
	}
}
