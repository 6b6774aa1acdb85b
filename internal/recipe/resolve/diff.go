package resolve

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/query"
)

// Change is a value that differs between two recipes. From is nil if only the second recipe has
// it, To if only the first has it; Op distinguishes that from null.
type Change struct {
	Path query.Path `json:"-"`
	Name string     `json:"path"`
	Op   string     `json:"op"`
	From any        `json:"from,omitempty"`
	To   any        `json:"to,omitempty"`
}

// Values of Change.Op.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Diff returns the changes from a to b, sorted by path.
func Diff(a, b *Result) ([]Change, error) {
	before, err := a.leaves()
	if err != nil {
		return nil, err
	}
	after, err := b.leaves()
	if err != nil {
		return nil, err
	}
	out := []Change{}
	for name, old := range before {
		now, there := after[name]
		switch {
		case !there:
			out = append(out, Change{Path: old.Path, Name: name, Op: Removed, From: old.Value})
		case !same(old.Value, now.Value):
			out = append(out, Change{Path: old.Path, Name: name, Op: Changed, From: old.Value, To: now.Value})
		}
	}
	for name, now := range after {
		if _, there := before[name]; !there {
			out = append(out, Change{Path: now.Path, Name: name, Op: Added, To: now.Value})
		}
	}
	slices.SortFunc(out, func(x, y Change) int { return cmp.Or(slices.Compare(x.Path, y.Path), cmp.Compare(x.Name, y.Name)) })
	return out, nil
}

func (r *Result) leaves() (map[string]query.Leaf, error) {
	doc, err := r.Document()
	if err != nil {
		return nil, err
	}
	out := map[string]query.Leaf{}
	for _, leaf := range query.Flatten(doc, names) {
		out[leaf.Path.String()] = leaf
	}
	return out, nil
}
