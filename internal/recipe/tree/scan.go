package tree

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// source is a file to parse with its expected role.
type source struct {
	path string
	role role
}

type role int

const (
	overlayRole role = iota
	mixinRole
	registryRole
	catalogRole
	// topRole is a file in the root directory: an overlay if its kind is.
	topRole
	// strayRole is a file in a directory without overlays.
	strayRole
	// legacyRole is an overlay for aicr unless its kind differs.
	legacyRole
)

// scan lists the tree's files and selects those to parse.
func (t *Tree) scan() ([]source, diag.List) {
	var problems diag.List
	err := fs.WalkDir(t.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, diag.Unreadable.At(diag.Pos{File: t.Name(p)}, "%s", err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if p != "." && !t.legacy && (d.Name()[0] == '.' || d.Name()[0] == '_') {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			t.Paths = append(t.Paths, p)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, diag.Unreadable.At(diag.Pos{File: t.Name(".")}, "%s", err))
	}
	slices.Sort(t.Paths)
	var sources []source
	for _, p := range t.Paths {
		r, ok := t.roleOf(p)
		if !ok {
			continue
		}
		if path.Ext(p) != ".yaml" && r != strayRole {
			problems = append(problems, diag.FileExtension.At(diag.Pos{File: t.Name(p)}, "file with the extension %s is ignored", path.Ext(p)))
			continue
		}
		sources = append(sources, source{path: p, role: r})
	}
	return sources, problems
}

// roleOf returns the role of a file by its path. Only YAML and JSON files have one.
func (t *Tree) roleOf(p string) (role, bool) {
	if t.legacy {
		return legacyRoleOf(p)
	}
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
	default:
		return 0, false
	}
	dir, _, nested := strings.Cut(p, "/")
	switch {
	case p == registryFile:
		return registryRole, true
	case !nested:
		return topRole, path.Ext(p) == ".yaml"
	case dir == overlayDir:
		return overlayRole, true
	case dir == mixinDir:
		return mixinRole, true
	case path.Dir(p) == catalogDir:
		return catalogRole, path.Ext(p) == ".yaml"
	default:
		return strayRole, path.Ext(p) == ".yaml"
	}
}
