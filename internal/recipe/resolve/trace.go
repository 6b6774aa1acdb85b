package resolve

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// at is a path, in the recipe or in a file. It is never written in place. A nil
// path stays nil: without a trace nobody asks for it.
type at []string

func (a at) with(keys ...string) at {
	if a == nil {
		return nil
	}
	return append(slices.Clip(a), keys...)
}

// at begins a path.
func (d *draft) at(keys ...string) at {
	if d.trace == nil {
		return nil
	}
	return slices.Clone(keys)
}

func index(i int) string { return strconv.Itoa(i) }

// layer is one of those that are merged: an overlay, a mixin, a profile's value,
// the registry, a values file, or the command line.
type layer struct {
	name, file string
	overlay    *tree.Overlay
}

// Origin is one setting of a value.
type Origin struct {
	// Layer is the name of the overlay, or mixin NAME, profile NAME=VALUE, registry,
	// values, --set.
	Layer string `json:"layer"`
	// File and Keys are where it stands; Pos computes the line.
	File  string   `json:"-"`
	Keys  []string `json:"-"`
	Value any      `json:"value"`

	overlay *tree.Overlay
}

// trace is what set each value, by its path in the recipe, in the order in which
// it was set. A nil trace keeps nothing.
type trace map[string][]Origin

func (t trace) set(path at, l layer, keys at, value any) {
	if t == nil {
		return
	}
	key := query.Join(gate(path)...)
	t[key] = append(t[key], Origin{Layer: l.name, File: l.file, Keys: keys, Value: value, overlay: l.overlay})
}

// gate is where a value is known by: those that enable a component are no values
// of its chart, they are the component's.
func gate(path at) at {
	if len(path) == 4 && path[0] == "components" && path[2] == "values" && slices.Contains(model.Gates(), path[3]) {
		return at{path[0], path[1], "enabled"}
	}
	return path
}

// setAll sets every leaf of a plain value.
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

// Origins are the settings of a value of the recipe, the last one being the one
// that counts. The recipe has to be resolved with Explain.
func (r *Result) Origins(path query.Path) []Origin {
	return r.trace[path.String()]
}

// Pos is where an origin stands; the zero Pos when that is no file.
func (r *Result) Pos(o Origin) diag.Pos {
	if o.File == "" {
		return diag.Pos{}
	}
	return r.tree.Pos(o.File, o.Keys...)
}

// Where is where a value of the recipe, or a component, was set last. The recipe
// has to be resolved with Explain.
func (r *Result) Where(keys ...string) diag.Pos {
	return (&draft{tree: r.tree, trace: r.trace}).pos(keys...)
}

// pos is where a value of the draft was set last.
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
