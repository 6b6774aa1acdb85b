package resolve

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// at is a path in the recipe or in a file. It is immutable. nil means that no trace is
// recorded.
type at []string

func (a at) with(keys ...string) at {
	if a == nil {
		return nil
	}
	return append(slices.Clip(a), keys...)
}

func (d *draft) at(keys ...string) at {
	if d.trace == nil {
		return nil
	}
	return slices.Clone(keys)
}

func index(i int) string { return strconv.Itoa(i) }

// layer is a layer of the merge: an overlay, a mixin, a profile value, the registry, a
// values file, or the command line.
type layer struct {
	name, file string
	overlay    *tree.Overlay
}

// Origin is one setting of a value.
type Origin struct {
	// Layer is the name of the overlay, or mixin NAME, profile NAME=VALUE, registry, values,
	// --set.
	Layer string `json:"layer"`
	// File and Keys locate the setting; Pos computes the line.
	File  string   `json:"-"`
	Keys  []string `json:"-"`
	Value any      `json:"value"`

	overlay *tree.Overlay
}

// trace has the settings of each value, by its path in the recipe, in order. A nil trace
// records nothing.
type trace map[string][]Origin

func (t trace) set(path at, l layer, keys at, value any) {
	if t == nil {
		return
	}
	key := query.Join(canonicalPath(path)...)
	t[key] = append(t[key], Origin{Layer: l.name, File: l.file, Keys: keys, Value: value, overlay: l.overlay})
}

// canonicalPath moves overrides that enable a component to the component itself.
func canonicalPath(path at) at {
	if len(path) == 4 && path[0] == "components" && path[2] == "values" && slices.Contains(model.Gates(), path[3]) {
		return at{path[0], path[1], "enabled"}
	}
	return path
}

// setAll records a setting for every leaf of a plain value.
func (t trace) setAll(path at, l layer, keys at, value any) {
	if t == nil {
		return
	}
	block, ok := value.(map[string]any)
	if !ok || len(block) == 0 {
		t.set(path, l, keys, value)
		return
	}
	for key, v := range block {
		t.setAll(path.with(key), l, keys.with(key), v)
	}
}

// Pos is the position of an origin; the zero Pos if it is not in a file.
func (r *Result) Pos(o Origin) diag.Pos {
	if o.File == "" {
		return diag.Pos{}
	}
	return r.tree.Pos(o.File, o.Keys...)
}

// Where is the position of the last setting of a value or component. It requires
// Options.Explain.
func (r *Result) Where(keys ...string) diag.Pos {
	return (&draft{tree: r.tree, trace: r.trace}).pos(keys...)
}

// pos is the position of the last setting of a value of the draft.
func (d *draft) pos(path ...string) diag.Pos {
	if d.trace == nil {
		return diag.Pos{}
	}
	origins := d.trace[query.Join(path...)]
	if len(origins) == 0 {
		return diag.Pos{File: d.tree.Name(d.tree.Base.File)}
	}
	last := origins[len(origins)-1]
	return d.tree.ValuePos(last.File, last.Keys...)
}
