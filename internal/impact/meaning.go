package impact

import (
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
)

// Places of a tree whose files are read by what they are, and of those that are read
// only where something names them.
var (
	readByPlace = []Glob{
		"overlays/**/*.yaml", "mixins/**/*.yaml", "registry.yaml", "validators/*.yaml", "*.yaml",
		nodeprofile.Dir + "/**/*.yaml", footprint.Dir + "/**/*.yaml",
	}
	readByName = []Glob{"components/**", "checks/**"}
	forPeople  = []Glob{"**/*.md", "LICENSE*", "schemas/**"}
)

// known says whether it is known what a path of a tree means: a file that recipes
// read, or one that none does. named are the files that something in the tree names.
func known(p string, named map[string]bool) bool {
	if named[p] {
		return true
	}
	for part := range strings.SplitSeq(p, "/") {
		if part[0] == '.' || part[0] == '_' { // the loader passes over these
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(readByPlace, readByName, forPeople), func(g Glob) bool { return g.Match(p) })
}

// below is the part of a path under a directory.
func below(dir, p string) (rest string, ok bool) {
	if dir == "" || dir == "." {
		return p, true
	}
	return strings.CutPrefix(p, path.Clean(dir)+"/")
}
