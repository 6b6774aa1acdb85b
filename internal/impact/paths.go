package impact

import (
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
)

// Files that are read because of their place, files that are read only if something names them,
// and files that do not affect recipes.
var (
	readByPlace = []Glob{
		"overlays/**/*.yaml", "mixins/**/*.yaml", "registry.yaml", "validators/*.yaml", "*.yaml",
		nodeprofile.Dir + "/**/*.yaml", footprint.Dir + "/**/*.yaml",
	}
	readByName = []Glob{"components/**", "checks/**"}
	forPeople  = []Glob{"**/*.md", "LICENSE*", "schemas/**"}
)

// isKnown reports whether the effect of a file in a tree is known. named are the files that
// something in the tree names.
func isKnown(p string, named map[string]bool) bool {
	if named[p] {
		return true
	}
	for part := range strings.SplitSeq(p, "/") {
		if part[0] == '.' || part[0] == '_' { // the loader ignores these
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(readByPlace, readByName, forPeople), func(g Glob) bool { return g.Match(p) })
}

func below(dir, p string) (rest string, ok bool) {
	if dir == "" || dir == "." {
		return p, true
	}
	return strings.CutPrefix(p, path.Clean(dir)+"/")
}
