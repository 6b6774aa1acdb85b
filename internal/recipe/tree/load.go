package tree

import (
	"cmp"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Options configure Load; the zero value is strict.
type Options struct {
	// Label is the directory of the tree in messages.
	Label string
	// Legacy reads the tree as aicr does in the version criteria.LegacyVersion; a key that
	// aicr ignores is a warning.
	Legacy bool
	// Cache shares parsed files with other trees; nil for none.
	Cache *Cache
}

// softenedForLegacy are the rules that aicr does not check, or checks only when it resolves a
// recipe.
var softenedForLegacy = []diag.Rule{
	diag.UnknownKey, rule.DuplicateName, rule.DuplicateEntry, diag.UnknownKind, diag.APIGroup, diag.FileExtension,
	diag.Missing, diag.BadValue, rule.EnabledType, rule.MissingFile, rule.OutsideFile, rule.ValuesFile,
	rule.ConstraintSyntax, rule.MissingParent, rule.BaseCycle,
}

// Load reads a tree. With problems of severity Error the result is incomplete and only useful
// for reports.
func Load(fsys fs.FS, o Options) (*Tree, diag.List) {
	t := &Tree{
		Label: o.Label, legacy: o.Legacy, fsys: fsys,
		Mixins: map[string]*Mixin{}, Components: map[string]*Component{}, Validators: map[string]*Validator{},
		byName: map[string]*Overlay{}, byCriteria: map[criteria.Criteria][]*Overlay{},
		files: map[string]*File{}, docs: map[string]*yamlstrict.Doc{},
	}
	sources, problems := t.scan()
	for _, p := range t.parseAll(sources, o.Cache) {
		if o.Legacy {
			p = t.dropNewerKeys(p)
		}
		problems = append(problems, p.problems...)
		problems = append(problems, t.enter(p)...)
	}
	problems = append(problems, t.link()...)
	problems = append(problems, t.references()...)
	if o.Legacy {
		problems = problems.Soften(softenedForLegacy...)
	}
	return t, problems.Sort()
}

// parseAll parses files in parallel; the results are in the order of sources.
func (t *Tree) parseAll(sources []source, cache *Cache) []parsed {
	out := make([]parsed, len(sources))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range sources {
		g.Go(func() error {
			out[i] = t.parse(sources[i], cache)
			return nil
		})
	}
	_ = g.Wait() // the results hold the problems
	return out
}

func byName(a, b *Overlay) int { return cmp.Compare(a.Name, b.Name) }

func (t *Tree) enter(p parsed) diag.List {
	switch {
	case p.overlay != nil:
		return t.enterOverlay(p)
	case p.mixin != nil:
		name := p.mixin.Metadata.Name
		if first, twice := t.Mixins[name]; twice {
			return diag.List{t.duplicateName(p.path, first.File, name)}
		}
		t.Mixins[name] = &Mixin{Mixin: p.mixin, File: p.path, Digest: p.digest}
	case p.registry != nil:
		return t.enterRegistry(p)
	case p.catalog != nil:
		return t.enterCatalog(p)
	}
	return nil
}

func (t *Tree) enterOverlay(p parsed) diag.List {
	o := &Overlay{Overlay: p.overlay, Name: p.overlay.Metadata.Name, File: p.path, Digest: p.digest}
	if p.root {
		if t.Base != nil {
			return diag.List{rule.DuplicateName.At(t.Pos(p.path, "metadata"), "second root overlay, the first is %s", t.Name(t.Base.File))}
		}
		t.Base = o
		return nil
	}
	if c := p.overlay.Spec.Criteria; c != nil {
		o.Criteria, o.Applies = t.overlayCriteria(*c), true
	}
	first, twice := t.byName[o.Name]
	if twice && t.legacy {
		t.Overlays = slices.DeleteFunc(t.Overlays, func(x *Overlay) bool { return x == first })
	}
	if !twice || t.legacy {
		t.byName[o.Name] = o
		t.Overlays = append(t.Overlays, o)
	}
	if twice {
		return diag.List{t.duplicateName(p.path, first.File, o.Name)}
	}
	return nil
}

func (t *Tree) duplicateName(path, first, name string) diag.Problem {
	return rule.DuplicateName.At(t.ValuePos(path, "metadata", "name"), "name %s is already used by %s", name, t.ValuePos(first, "metadata", "name"))
}
