package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/impact/git"
)

// Locate finds the repository of a directory, and the directory's path in it. The directory may
// have been deleted if one of its parents still exists.
func Locate(ctx context.Context, dir string) (repo *git.Repo, rest string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", dir, err)
	}
	there := dir
	for {
		if info, err := os.Stat(there); err == nil && info.IsDir() {
			break
		}
		if up := filepath.Dir(there); up != there {
			there = up
			continue
		}
		return nil, "", fmt.Errorf("directory %s not found", dir)
	}
	gone, err := filepath.Rel(there, dir)
	if err != nil {
		return nil, "", fmt.Errorf("find %s: %w", dir, err)
	}
	if there, err = filepath.EvalSymlinks(there); err != nil {
		return nil, "", fmt.Errorf("find %s: %w", dir, err)
	}
	if repo, err = git.Open(ctx, there); err != nil {
		return nil, "", err
	}
	rest, err = filepath.Rel(repo.Top(), filepath.Join(there, gone))
	if err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
		return nil, "", fmt.Errorf("%s is not in the repository %s", dir, repo.Top())
	}
	return repo, filepath.ToSlash(rest), nil
}

// overlays is the directory that identifies a recipe tree.
const overlays = "overlays"

var errNoTree = errors.New("no recipe tree")

// tree finds the recipe tree of the head: the directory, or recipes in it.
func (c *comparison) tree() (string, error) {
	for _, dir := range []string{path.Clean(c.Tree), path.Join(c.Tree, "recipes")} {
		if c.has(path.Join(dir, overlays)) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w %s at %s: give the directory that contains %s", errNoTree, c.Tree, c.in.Head.Name, overlays)
}

func (c *comparison) has(dir string) bool {
	if c.onDisk() {
		info, err := os.Stat(filepath.Join(c.Repo.Top(), filepath.FromSlash(dir)))
		return err == nil && info.IsDir()
	}
	return slices.ContainsFunc(c.entries, func(e git.Entry) bool { return strings.HasPrefix(e.Path, dir+"/") })
}
