package tree

import (
	"cmp"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Options say how a tree is loaded; the zero value is the strict way.
type Options struct {
	// Label is how the tree is called in messages.
	Label string
	// Legacy reads the tree as aicr does, in the version criteria.LegacyVersion; what
	// it passes over is a warning.
	Legacy bool
	// Cache, where there is one, keeps files from being parsed again that another
	// tree has had with the same content.
	Cache *Cache
}

// passedOver are the rules that aicr does not have, or whose break it finds out
// when it resolves what they are broken in.
var passedOver = []diag.Rule{
	diag.UnknownKey, rule.DuplicateName, rule.DuplicateEntry, diag.UnknownKind, diag.APIGroup, diag.FileExtension,
	diag.Missing, diag.BadValue, rule.EnabledType, rule.MissingFile, rule.OutsideFile, rule.ValuesFile,
	rule.ConstraintSyntax, rule.MissingParent, rule.BaseCycle,
}

// Load reads a tree. It comes back with whatever could be read; with problems of
// severity error it is not to be used, but to be looked at.
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
			p = t.forgetNewer(p)
		}
		problems = append(problems, p.problems...)
		problems = append(problems, t.enter(p)...)
	}
	problems = append(problems, t.link()...)
	problems = append(problems, t.references()...)
	if o.Legacy {
		problems = problems.Soften(passedOver...)
	}
	return t, problems.Sort()
}

// parseAll parses files side by side; the results are in the order of sources.
func (t *Tree) parseAll(sources []source, cache *Cache) []parsed {
	out := make([]parsed, len(sources))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(sources)) {
		wg.Go(func() {
			for i := range next {
				out[i] = t.parse(sources[i], cache)
			}
		})
	}
	for i := range sources {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

func byName(a, b *Overlay) int { return cmp.Compare(a.Name, b.Name) }

// enter puts what a file holds into the tree.
func (t *Tree) enter(p parsed) diag.List {
	switch {
	case p.overlay != nil:
		return t.enterOverlay(p)
	case p.mixin != nil:
		name := p.mixin.Metadata.Name
		if first, twice := t.Mixins[name]; twice {
			return diag.List{t.twice(p.path, first.File, name)}
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
			return diag.List{rule.DuplicateName.At(t.Pos(p.path, "metadata"), "there are two root overlays, this one and %s", t.Name(t.Base.File))}
		}
		t.Base = o
		return nil
	}
	if c := p.overlay.Spec.Criteria; c != nil {
		o.Criteria, o.Applies = t.stated(*c), true
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
		return diag.List{t.twice(p.path, first.File, o.Name)}
	}
	return nil
}

func (t *Tree) twice(path, first, name string) diag.Problem {
	return rule.DuplicateName.At(t.ValuePos(path, "metadata", "name"), "%s is the name of %s too", name, t.ValuePos(first, "metadata", "name"))
}
