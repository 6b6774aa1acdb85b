package tier

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/tier/git"
)

// Workflows are the files that run the tests in every repository that has them: they
// say which firstlight it is, too.
const Workflows Glob = ".github/workflows/recipes*.yaml"

// own are the files that firstlight's own test is made of: code and what is embedded
// in it, pins of the programs that it runs, and how it is built.
var own = []Glob{"**/*.go", "go.mod", "go.sum", "cmd/**", "internal/**", "components/**", "Makefile", Workflows}

// OwnHarness are the patterns of firstlight's own repository. What ships with
// firstlight serves for trees that lack it, so with a tree at another place than ours
// it counts as well.
func OwnHarness(dir string) []Glob {
	if dir == "recipes" {
		return slices.Clone(own)
	}
	return append(slices.Clone(own), "recipes/**")
}

// Harness is the code that runs the test.
type Harness struct {
	// Digest of its files, and of the version where it is not built from them.
	Digest string `json:"digest"`
	// Version of firstlight, where it is not built from this repository.
	Version string `json:"version,omitempty"`
	// Globs are its files.
	Globs []Glob `json:"globs"`
	// Changes are those of its files that differ.
	Changes []git.Change `json:"changes,omitempty"`
}

// Matches says whether a path is one of the harness.
func Matches(globs []Glob, p string) bool {
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(p) })
}

// NewHarness is the harness of the entries of a commit.
func NewHarness(version string, globs []Glob, entries []git.Entry, changes []git.Change) Harness {
	h := newHasher()
	h.line("version", version)
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b git.Entry) int { return cmp.Compare(a.Path, b.Path) })
	for _, e := range sorted {
		if Matches(globs, e.Path) {
			h.line(e.Mode, e.ID, e.Path)
		}
	}
	out := Harness{Digest: h.sum(), Version: version, Globs: globs}
	for _, c := range changes {
		if Matches(globs, c.Path) {
			out.Changes = append(out.Changes, c)
		}
	}
	return out
}
