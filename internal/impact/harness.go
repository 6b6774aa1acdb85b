package impact

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
)

// Workflows are the workflow files that run the tests; they also name the version of
// firstlight.
const Workflows Glob = ".github/workflows/recipes*.yaml"

// ownHarness covers firstlight's own test: code and embedded files, pinned programs, and the
// build.
var ownHarness = []Glob{"**/*.go", "go.mod", "go.sum", "cmd/**", "internal/**", "components/**", "Makefile", Workflows}

// OwnHarness returns the harness patterns for firstlight's own repository and a recipe tree in
// dir. Trees without node profiles or footprints use the embedded recipes, so those are part of
// the harness of every other tree.
func OwnHarness(dir string) []Glob {
	if dir == "recipes" {
		return slices.Clone(ownHarness)
	}
	return append(slices.Clone(ownHarness), "recipes/**")
}

// Harness is the code that runs the test.
type Harness struct {
	// Digest covers its files and, unless Built, the version.
	Digest string `json:"digest"`
	// Version of firstlight; empty if Built.
	Version string `json:"version,omitempty"`
	// Globs match its files.
	Globs []Glob `json:"globs"`
	// Changes lists its changed files.
	Changes []git.Change `json:"changes,omitempty"`
	// Built is set if firstlight is built from these files.
	Built bool `json:"built,omitempty"`

	entries []git.Entry // sorted by path
}

// Matches reports whether any pattern matches the path.
func Matches(globs []Glob, p string) bool {
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(p) })
}

// NewHarness returns the harness of a commit with these entries. version is empty if firstlight
// is built from them.
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

// Of returns the digest of the same files with another version of firstlight. If firstlight is
// built from the files, the version does not matter.
func (h *Harness) Of(version string) string {
	if h.Built {
		return h.Digest
	}
	return h.digest(version)
}
