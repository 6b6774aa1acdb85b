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

// Flatten lists the leaves of a document in the order of their paths. Lists are
// leaves; so are empty blocks. Set, where it is not nil, says of which lists the
// entries, texts all of them, are leaves of their own.
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
