package resolve

import (
	"cmp"
	"path"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Input is a file, or a part of one, that determines a recipe.
type Input struct {
	// Path is relative to the recipe tree. Part is empty for the whole file, or names an entry:
	// components/NAME of the registry, validators/NAME of a catalogue.
	Path string `json:"path"`
	Part string `json:"part,omitempty"`
	// Digest is the SHA-256 of the file, or of the entry in canonical JSON, in hexadecimal;
	// empty if it cannot be read.
	Digest string `json:"digest"`
	// Why is the role of the input.
	Why string `json:"why"`
}

// Inputs returns all files that determine the recipe, sorted by path: two resolutions with
// equal inputs give equal recipes. A disabled component only adds the overlays that disable it.
func (r *Result) Inputs() []Input {
	in := inputs{r: r}
	for i, o := range r.Applied {
		why := "base"
		switch {
		case i == 0:
			why = "root"
		case r.Matched[o.Name]:
			why = "criteria"
		}
		in.list = append(in.list, Input{Path: o.File, Digest: o.Digest, Why: why})
	}
	for _, name := range r.Metadata.AppliedMixins {
		if m, ok := r.tree.Mixins[name]; ok {
			in.list = append(in.list, Input{Path: m.File, Digest: m.Digest, Why: "mixin"})
		}
	}
	for i := range r.ComponentRefs {
		if c := &r.ComponentRefs[i]; c.Enabled() {
			in.component(c)
		}
	}
	in.checks()
	slices.SortFunc(in.list, func(a, b Input) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Why, b.Why))
	})
	return slices.Compact(in.list)
}

type inputs struct {
	r    *Result
	list []Input
}

func (in *inputs) component(c *model.ComponentRef) {
	entry := in.r.tree.Components[c.Name]
	if entry != nil {
		in.part(registryFile, "components/"+c.Name, "registry", entry.Digest)
		if h := entry.HealthCheck; h != nil && h.AssertFile != "" {
			in.file(h.AssertFile, "check")
		}
	}
	for _, f := range in.r.tree.ValuesFiles(c) {
		in.file(f, "values")
	}
	for why, files := range map[string][]string{
		"manifest": append(slices.Clone(c.PreManifestFiles), c.ManifestFiles...), "patch": c.Patches,
	} {
		for _, f := range files {
			in.file(f, why)
		}
	}
}

// checks adds the catalogue entries of the checks in the validation.
func (in *inputs) checks() {
	if in.r.Validation == nil {
		return
	}
	for _, name := range model.PhaseNames() {
		phase := *in.r.Validation.Phase(name)
		if phase == nil {
			continue
		}
		for _, check := range phase.Checks {
			if v, ok := in.r.tree.Validators[check]; ok {
				in.part(v.File, "validators/"+check, "check", v.Digest)
			}
		}
	}
}

func (in *inputs) part(file, part, why, sum string) {
	in.list = append(in.list, Input{Path: file, Part: part, Digest: sum, Why: why})
}

func (in *inputs) file(name, why string) {
	name = path.Clean(name)
	input := Input{Path: name, Why: why}
	if f, err := in.r.tree.Read(name); err == nil {
		input.Digest = f.Digest
	}
	in.list = append(in.list, input)
}
