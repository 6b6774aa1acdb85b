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

// Files and directories with a meaning.
const (
	BaseName     = "base"
	baseFile     = "base.yaml"
	registryFile = "registry.yaml"
	overlayDir   = "overlays"
	mixinDir     = "mixins"
	catalogDir   = "validators"
)

// Tree is a loaded recipe tree.
type Tree struct {
	// Label is the directory of the tree in messages.
	Label string
	// Base is the root that every overlay is merged onto.
	Base *Overlay
	// Overlays are the other overlays, sorted by name.
	Overlays []*Overlay
	// Mixins, Components and Validators by name.
	Mixins     map[string]*Mixin
	Components map[string]*Component
	Validators map[string]*Validator
	// Paths are all files of the tree, sorted.
	Paths []string

	byName     map[string]*Overlay
	byCriteria map[criteria.Criteria][]*Overlay
	legacy     bool

	fsys  fs.FS
	mu    sync.Mutex
	files map[string]*File
	docs  map[string]*yamlstrict.Doc
}

// Overlay is an overlay file with derived data.
type Overlay struct {
	*model.Overlay
	Name string
	File string
	// Digest is the SHA-256 of the file in hexadecimal.
	Digest string
	// Criteria are normalized; Applies is false if the overlay has none.
	Criteria criteria.Criteria
	Applies  bool
	// Parent is the base; nil for the root.
	Parent *Overlay
	// Depth is the distance from the root.
	Depth int
	// Broken is the problem of the overlay's base, if the tree is used despite it. The overlay
	// and those based on it cannot be resolved.
	Broken *diag.Problem
	// Children counts the overlays based on this one.
	Children int
}

// Mixin is a mixin file.
type Mixin struct {
	*model.Mixin
	File, Digest string
}

// Component is a registry entry. Index is its place in the list, Digest the digest of the entry
// in canonical JSON.
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

// Overlay returns an overlay by name, including the root.
func (t *Tree) Overlay(name string) (*Overlay, bool) {
	o, ok := t.byName[name]
	return o, ok
}

// Chain returns the overlay and its bases, the root excluded, base first.
func (o *Overlay) Chain() []*Overlay {
	chain := make([]*Overlay, 0, o.Depth)
	for at := o; at != nil && at.Parent != nil; at = at.Parent {
		chain = append(chain, at)
	}
	slices.Reverse(chain)
	return chain
}

// DescendsFrom reports whether a is o or one of its bases.
func (o *Overlay) DescendsFrom(a *Overlay) bool {
	for at := o; at != nil; at = at.Parent {
		if at == a {
			return true
		}
	}
	return false
}

// Leaf reports whether no overlay is based on this one.
func (o *Overlay) Leaf() bool { return o.Children == 0 }

// Generic reports whether the overlay is for a service with any accelerator.
func (o *Overlay) Generic() bool { return o.Criteria.Service != "" && o.Criteria.Accelerator == "" }

// Matching returns the overlays whose criteria match a query, sorted by name. Its cost depends
// on the number of criteria in the query, not on the number of overlays.
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

// Recipes returns the overlays that have criteria and so can be selected.
func (t *Tree) Recipes() []*Overlay {
	var out []*Overlay
	for _, o := range t.Overlays {
		if o.Applies && o.Criteria.Specificity() > 0 {
			out = append(out, o)
		}
	}
	return out
}

// Query converts a query to the form that Matching expects.
func (t *Tree) Query(c criteria.Criteria) criteria.Criteria {
	if t.legacy {
		return c.Legacy()
	}
	return c.Normal()
}

// overlayCriteria converts an overlay's criteria to the form that Matching expects.
func (t *Tree) overlayCriteria(c criteria.Criteria) criteria.Criteria {
	if t.legacy {
		return c.Open()
	}
	return c.Normal()
}

// Pos is the position of a key in a file of the tree.
func (t *Tree) Pos(file string, keys ...string) diag.Pos {
	if doc := t.doc(file); doc != nil {
		return doc.At(keys...)
	}
	return diag.Pos{File: t.Name(file)}
}

// ValuePos is the position of a value in a file of the tree.
func (t *Tree) ValuePos(file string, keys ...string) diag.Pos {
	if doc := t.doc(file); doc != nil {
		return doc.ValueAt(keys...)
	}
	return diag.Pos{File: t.Name(file)}
}

// Name returns a file's name for messages.
func (t *Tree) Name(file string) string { return path.Join(t.Label, file) }

// Stats counts the parts of a tree.
type Stats struct {
	Overlays   int `json:"overlays"`
	Recipes    int `json:"recipes"`
	Mixins     int `json:"mixins"`
	Components int `json:"components"`
	Validators int `json:"validators"`
	Files      int `json:"files"`
}

// Stats counts the files of each kind.
func (t *Tree) Stats() Stats {
	return Stats{
		Overlays: len(t.Overlays), Recipes: len(t.Recipes()), Mixins: len(t.Mixins),
		Components: len(t.Components), Validators: len(t.Validators), Files: len(t.Paths),
	}
}
