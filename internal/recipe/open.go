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

// Embedded is how the tree that ships with firstlight is called.
const Embedded = "recipes"

// Open loads the tree in a directory, or the one that ships with firstlight where
// dir is empty. dir may also be a directory that has the tree in recipes/, or an
// archive of either (.tgz), which is read to memory. Label,
// Legacy and Cache are as in tree.Options; a Label that is empty is computed.
// The error is for what is no tree at all; what is wrong with one is in the list.
func Open(dir string, o tree.Options) (*tree.Tree, diag.List, error) {
	if dir == "" {
		if o.Label == "" {
			o.Label = Embedded
		}
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

// locate finds the directory that has overlays in it.
func Locate(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("open recipe tree: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("open recipe tree: %s is no directory, and no archive by its name (.tgz)", dir)
	}
	for _, at := range []string{dir, filepath.Join(dir, "recipes")} {
		if hasOverlays(os.DirFS(at)) {
			return at, nil
		}
	}
	return "", fmt.Errorf("open recipe tree: %s %w", dir, errNoTree)
}

var errNoTree = errors.New("has no directory overlays: give a whole recipe tree; a directory cannot be laid over another, copy both into one")

func hasOverlays(fsys fs.FS) bool {
	info, err := fs.Stat(fsys, "overlays")
	return err == nil && info.IsDir()
}

// locateIn is locate in a file system.
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

// label is the directory as it is shown: relative to where the program runs,
// where it lies below that, so that messages can be clicked and annotated.
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
