package tree

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// parsed is the content of a file; at most one of the kinds is set.
type parsed struct {
	source
	digest   string
	problems diag.List
	overlay  *model.Overlay
	root     bool
	mixin    *model.Mixin
	registry *model.Registry
	catalog  *model.Catalog
}

// Cache has parsed files by name and content.
type Cache struct{ m sync.Map }

type cacheKey struct {
	name, digest string
	legacy       bool
}

func (t *Tree) parse(s source, cache *Cache) parsed {
	data, err := readFile(t.fsys, s.path)
	if s.role == strayRole && (err != nil || !bytes.Contains(data, []byte(model.KindOverlay))) {
		return parsed{source: s}
	}
	if err != nil {
		return parsed{source: s, problems: diag.List{diag.Unreadable.At(diag.Pos{File: t.Name(s.path)}, "%s", err)}}
	}
	key := cacheKey{name: t.Name(s.path), digest: digest.Bytes(data), legacy: t.legacy}
	if cache != nil {
		if hit, ok := cache.m.Load(key); ok {
			return hit.(parsed)
		}
	}
	p := parsed{source: s, digest: key.digest}
	p.decode(t, data)
	if cache != nil {
		cache.m.Store(key, p)
	}
	return p
}

func (p *parsed) decode(t *Tree, data []byte) {
	doc, problems := t.document(t.Name(p.path), data)
	if doc == nil {
		p.unread(problems)
		return
	}
	p.problems = problems
	kind, group := doc.Text("kind"), doc.Text("apiVersion")
	switch p.role {
	case strayRole:
		if kind == model.KindOverlay {
			p.problems = diag.List{rule.StrayOverlay.At(doc.ValueAt("kind"), "overlay %s outside of %s/ is ignored", p.path, overlayDir)}
		}
		return
	case topRole, legacyRole:
		if kind != model.KindOverlay && (kind != "" || p.role == topRole) {
			return
		}
		p.role = overlayRole
	case overlayRole, mixinRole, registryRole, catalogRole:
	}
	if want := kinds[p.role]; kind != want && kind != "" {
		p.problems = diag.List{diag.UnknownKind.At(doc.ValueAt("kind"), "invalid kind %q: must be %s", kind, want)}
		return
	}
	if group != "" && !model.KnownGroup(group) {
		p.problems = append(p.problems, diag.APIGroup.At(doc.ValueAt("apiVersion"), "unknown API group in apiVersion %q", group))
	}
	p.problems = append(p.problems, doc.Decode(p.target())...)
}

// unread keeps the problems of a file without a document. For aicr an empty file is an overlay
// without a name, which only matters for the root.
func (p *parsed) unread(problems diag.List) {
	switch {
	case p.role == topRole || p.role == strayRole:
	case p.role == legacyRole && empty(problems):
		p.problems = problems.Soften(diag.Document)
		if p.isRoot() {
			p.overlay, p.root = &model.Overlay{}, true
		}
	default:
		p.problems = problems
	}
}

var kinds = map[role]string{
	overlayRole: model.KindOverlay, mixinRole: model.KindMixin, registryRole: model.KindRegistry, catalogRole: model.KindCatalog,
}

// target allocates the object for the file's role.
func (p *parsed) target() any {
	switch p.role {
	case mixinRole:
		p.mixin = &model.Mixin{}
		return p.mixin
	case registryRole:
		p.registry = &model.Registry{}
		return p.registry
	case catalogRole:
		p.catalog = &model.Catalog{}
		return p.catalog
	default:
		p.overlay = &model.Overlay{}
		p.root = p.isRoot()
		return p.overlay
	}
}

// isRoot reports whether an overlay's file is the root overlay.
func (p *parsed) isRoot() bool {
	return path.Base(p.path) == baseFile && slices.Contains(strings.Split(path.Dir(p.path), "/"), overlayDir) || p.path == baseFile
}

func (t *Tree) enterRegistry(p parsed) diag.List {
	var problems diag.List
	for i := range p.registry.Components {
		c := &p.registry.Components[i]
		if first, twice := t.Components[c.Name]; twice {
			problems = append(problems, rule.DuplicateEntry.At(t.entry(p.path, "components", i), "duplicate component %s, first at line %d",
				c.Name, t.entry(p.path, "components", first.Index).Line))
			if !t.legacy {
				continue
			}
		}
		t.Components[c.Name] = &Component{Component: c, Index: i, Digest: digest.MustJSON(c)}
	}
	return problems
}

func (t *Tree) enterCatalog(p parsed) diag.List {
	var problems diag.List
	for i := range p.catalog.Validators {
		v := &p.catalog.Validators[i]
		if first, twice := t.Validators[v.Name]; twice {
			problems = append(problems, rule.DuplicateEntry.At(t.entry(p.path, "validators", i), "duplicate check %s, first at %s",
				v.Name, t.entry(first.File, "validators", first.Index)))
			continue
		}
		t.Validators[v.Name] = &Validator{Validator: v, File: p.path, Index: i, Digest: digest.MustJSON(v)}
	}
	return problems
}
