package tree

import (
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Names of files that have a meaning.
const (
	BaseName     = "base"
	baseFile     = "base.yaml"
	registryFile = "registry.yaml"
	overlayDir   = "overlays"
	mixinDir     = "mixins"
	catalogDir   = "validators"
)

// Tree is a recipe tree.
type Tree struct {
	// Label is how the tree is called in messages: the directory it was read from.
	Label string
	// Base is the root that every overlay is merged onto.
	Base *Overlay
	// Overlays are the others, by name.
	Overlays []*Overlay
	// Mixins, Components and Validators by their names.
	Mixins     map[string]*Mixin
	Components map[string]*Component
	Validators map[string]*Validator
	// Paths are all files of the tree, in order.
	Paths []string

	byName     map[string]*Overlay
	byCriteria map[criteria.Criteria][]*Overlay
	legacy     bool

	fsys  fs.FS
	mu    sync.Mutex
	files map[string]*File
	docs  map[string]*yamlstrict.Doc
}

// Overlay is an overlay with what is computed of it.
type Overlay struct {
	*model.Overlay
	Name string
	File string
	// Digest is the SHA-256 of the file, in hexadecimal.
	Digest string
	// Criteria are Normal; where the overlay has none, Applies is false.
	Criteria criteria.Criteria
	Applies  bool
	// Parent is the base; nil of the root alone.
	Parent *Overlay
	// Depth is how far from the root the overlay is.
	Depth int
	// Broken is what is wrong with the base that the overlay names, where a tree is
	// used all the same: the overlay can't be resolved, nor what is based on it.
	Broken *diag.Problem
	// Children is how many overlays are based on this one.
	Children int
}

// Mixin is a mixin with its file.
type Mixin struct {
	*model.Mixin
	File, Digest string
}

// Component is an entry of the registry; Index is its place there, Digest that
// of the entry in canonical JSON.
type Component struct {
	*model.Component
	Index  int
	Digest string
}

// Validator is an entry of a validator catalogue.
type Validator struct {
	*model.Validator
	File   string
	Index  int
	Digest string
}

// Overlay finds an overlay by its name, the root too.
func (t *Tree) Overlay(name string) (*Overlay, bool) {
	o, ok := t.byName[name]
	return o, ok
}

// Chain is the overlay with what it is based on, the root first and left out.
func (o *Overlay) Chain() []*Overlay {
	chain := make([]*Overlay, 0, o.Depth)
	for at := o; at != nil && at.Parent != nil; at = at.Parent {
		chain = append(chain, at)
	}
	slices.Reverse(chain)
	return chain
}

// DescendsFrom says whether a is o, or o is based on it.
func (o *Overlay) DescendsFrom(a *Overlay) bool {
	for at := o; at != nil; at = at.Parent {
		if at == a {
			return true
		}
	}
	return false
}

// Leaf says that nothing is based on the overlay.
func (o *Overlay) Leaf() bool { return o.Children == 0 }

// Generic says that the overlay is for a service, with whatever accelerator.
func (o *Overlay) Generic() bool { return o.Criteria.Service != "" && o.Criteria.Accelerator == "" }

// Matching are the overlays that apply to a query by their criteria, by name.
// It costs as much as the query has combinations of stated dimensions, not as
// much as there are overlays.
func (t *Tree) Matching(q criteria.Criteria) []*Overlay {
	stated := q.Stated()
	var out []*Overlay
	for open := range 1 << len(stated) {
		c := q
		for i, d := range stated {
			if open&(1<<i) != 0 {
				c = c.Without(d)
			}
		}
		out = append(out, t.byCriteria[c]...)
	}
	slices.SortFunc(out, byName)
	return out
}

// Recipes are the overlays that can be asked for: those that state a dimension.
func (t *Tree) Recipes() []*Overlay {
	var out []*Overlay
	for _, o := range t.Overlays {
		if o.Applies && o.Criteria.Specificity() > 0 {
			out = append(out, o)
		}
	}
	return out
}

// Query is a query in the form in which the tree matches it.
func (t *Tree) Query(c criteria.Criteria) criteria.Criteria {
	if t.legacy {
		return c.Legacy()
	}
	return c.Normal()
}

// stated are an overlay's criteria in the form in which the tree matches them.
func (t *Tree) stated(c criteria.Criteria) criteria.Criteria {
	if t.legacy {
		return c.Open()
	}
	return c.Normal()
}

// Pos is where a path stands in a file of the tree.
func (t *Tree) Pos(file string, keys ...string) diag.Pos {
	if doc := t.doc(file); doc != nil {
		return doc.At(keys...)
	}
	return diag.Pos{File: t.Name(file)}
}

// ValuePos is Pos, but of the value instead of its key.
func (t *Tree) ValuePos(file string, keys ...string) diag.Pos {
	if doc := t.doc(file); doc != nil {
		return doc.ValueAt(keys...)
	}
	return diag.Pos{File: t.Name(file)}
}

// Name is a file's name in messages.
func (t *Tree) Name(file string) string { return path.Join(t.Label, file) }

// Stats are how much there is of everything.
type Stats struct {
	Overlays   int `json:"overlays"`
	Recipes    int `json:"recipes"`
	Mixins     int `json:"mixins"`
	Components int `json:"components"`
	Validators int `json:"validators"`
	Files      int `json:"files"`
}

// Stats counts.
func (t *Tree) Stats() Stats {
	return Stats{
		Overlays: len(t.Overlays), Recipes: len(t.Recipes()), Mixins: len(t.Mixins),
		Components: len(t.Components), Validators: len(t.Validators), Files: len(t.Paths),
	}
}
