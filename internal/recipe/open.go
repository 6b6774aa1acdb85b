package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// Embedded is the label of the tree embedded in firstlight.
const Embedded = "recipes"

// Open loads the tree in a directory; an empty dir means the tree embedded in firstlight. dir
// may also contain the tree as recipes/, or be an archive of either (.tgz), which is read into
// memory. An empty Label is computed from dir. The error means that there is no tree; problems
// of a tree are in the list.
func Open(dir string, o tree.Options) (*tree.Tree, diag.List, error) {
	if dir == "" {
		o.Label = cmp.Or(o.Label, Embedded)
		t, problems := tree.Load(recipes.FS, o)
		return t, problems, nil
	}
	if isArchive(dir) && !isDir(dir) {
		return openArchive(dir, o)
	}
	at, err := Locate(dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Label == "" {
		o.Label = label(at)
	}
	t, problems := tree.Load(os.DirFS(at), o)
	return t, problems, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func openArchive(file string, o tree.Options) (*tree.Tree, diag.List, error) {
	fsys, called, err := readArchive(file)
	if err != nil {
		return nil, nil, err
	}
	o.Label = cmp.Or(o.Label, called, label(file))
	t, problems := tree.Load(fsys, o)
	return t, problems, nil
}

// Locate returns the directory of the tree that Open(dir) reads: dir, or its subdirectory
// recipes.
func Locate(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("open recipe tree: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("open recipe tree: %s is neither a directory nor an archive (.tgz)", dir)
	}
	for _, at := range []string{dir, filepath.Join(dir, "recipes")} {
		if hasOverlays(os.DirFS(at)) {
			return at, nil
		}
	}
	return "", fmt.Errorf("open recipe tree: %s %w", dir, errNoTree)
}

var errNoTree = errors.New("has no overlays directory: a complete recipe tree is required; to combine two directories, copy both into one")

func hasOverlays(fsys fs.FS) bool {
	info, err := fs.Stat(fsys, "overlays")
	return err == nil && info.IsDir()
}

func locateIn(fsys fs.FS) (fs.FS, error) {
	if hasOverlays(fsys) {
		return fsys, nil
	}
	below, err := fs.Sub(fsys, "recipes")
	if err != nil || !hasOverlays(below) {
		return nil, errNoTree
	}
	return below, nil
}

// label shortens a directory to a path relative to the working directory if it is below it, so
// that terminals and editors can open it.
func label(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return dir
	}
	rel, err := filepath.Rel(here, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return dir
	}
	return filepath.ToSlash(rel)
}
