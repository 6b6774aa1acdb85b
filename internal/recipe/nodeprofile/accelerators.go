package nodeprofile

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Accelerator is an entry of accelerators.yaml. Index is its place in the file, Digest the
// digest of the entry in canonical JSON.
type Accelerator struct {
	model.Accelerator
	Index  int
	Digest string
}

var archs = []string{"amd64", "arm64"}

func (s *Set) accelerators(f *tree.Asset) diag.List {
	var file model.Accelerators
	_, problems := f.Decode(model.KindAccelerators, &file)
	for i := range file.Accelerators {
		a := &Accelerator{Accelerator: file.Accelerators[i], Index: i, Digest: digest.MustJSON(file.Accelerators[i])}
		at := func(keys ...string) diag.Pos {
			return f.ValueAt(append([]string{"accelerators", strconv.Itoa(i)}, keys...)...)
		}
		if first, twice := s.Accelerator(a.Name); twice && a.Name != "" {
			problems = append(problems, rule.DuplicateEntry.At(at("name"), "duplicate accelerator %s, first at line %d",
				a.Name, f.ValueAt("accelerators", strconv.Itoa(first.Index)).Line))
			continue
		}
		for j, arch := range a.Arch {
			if !slices.Contains(archs, arch) {
				problems = append(problems, diag.BadValue.At(at("arch", strconv.Itoa(j)), "invalid architecture %q: must be amd64 or arm64", arch))
			}
		}
		s.AcceleratorList = append(s.AcceleratorList, a)
	}
	return problems
}

// Accelerator returns the accelerator of a name.
func (s *Set) Accelerator(name string) (*Accelerator, bool) {
	i := slices.IndexFunc(s.AcceleratorList, func(a *Accelerator) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return s.AcceleratorList[i], true
}
