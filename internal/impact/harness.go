package impact

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
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
	// Built says that firstlight is built from these files.
	Built bool `json:"built,omitempty"`

	entries []git.Entry // in order
}

// Matches says whether a path is one of the harness.
func Matches(globs []Glob, p string) bool {
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(p) })
}

// NewHarness is the harness of the entries of a commit; version is empty where the
// harness is built from them.
func NewHarness(version string, globs []Glob, entries []git.Entry, changes []git.Change) Harness {
	out := Harness{Version: version, Globs: globs}
	for _, e := range entries {
		if Matches(globs, e.Path) {
			out.entries = append(out.entries, e)
		}
	}
	slices.SortFunc(out.entries, func(a, b git.Entry) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range changes {
		if Matches(globs, c.Path) {
			out.Changes = append(out.Changes, c)
		}
	}
	out.Digest = out.digest(version)
	return out
}

func (h *Harness) digest(version string) string {
	to := newHasher()
	to.line("version", version)
	for _, e := range h.entries {
		to.line(e.Mode, e.ID, e.Path)
	}
	return to.sum()
}

// Of is the digest of the same files with another version of firstlight. Where it is
// built from them, there is no other.
func (h *Harness) Of(version string) string {
	if h.Built {
		return h.Digest
	}
	return h.digest(version)
}
