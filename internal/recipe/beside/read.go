package beside

import (
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// Shipped is how the tree that ships with firstlight is called where it stands in
// for another.
const Shipped = "(firstlight)"

// Files are the files of a tree that match, in the order of their paths. Where
// there is none, they are those that ship with firstlight, and own is false. A file
// without a Doc has its reason among the problems.
func Files(t *tree.Tree, match func(path string) bool) (files []File, own bool, problems diag.List) {
	for _, p := range t.Paths {
		if !match(p) {
			continue
		}
		if path.Ext(p) != ".yaml" {
			problems = append(problems, diag.Extension.At(diag.Pos{File: t.Name(p)}, "a file that ends in %s is not read", path.Ext(p)))
			continue
		}
		f, wrong := read(p, t.Name(p), t.Data)
		files, problems = append(files, f), append(problems, wrong...)
	}
	if len(files) > 0 || len(problems) > 0 {
		return files, true, problems
	}
	files, problems = shipped(match)
	return files, false, problems
}

func read(p, name string, data func(string) ([]byte, error)) (File, diag.List) {
	content, err := data(p)
	if err != nil {
		return File{Path: p, Name: name}, diag.List{diag.Unreadable.At(diag.Pos{File: name}, "%s", err)}
	}
	return Parse(p, name, content)
}

func shipped(match func(string) bool) (files []File, problems diag.List) {
	var paths []string
	err := fs.WalkDir(recipes.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && match(p) {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("beside: list what is embedded: %v", err)) // it is embedded
	}
	slices.Sort(paths)
	for _, p := range paths {
		f, wrong := read(p, path.Join(Shipped, p), func(p string) ([]byte, error) { return fs.ReadFile(recipes.FS, p) })
		files, problems = append(files, f), append(problems, wrong...)
	}
	return files, problems
}

// Under matches YAML, and what is nearly YAML, anywhere below a directory.
func Under(dir string) func(string) bool {
	return func(p string) bool {
		switch path.Ext(p) {
		case ".yaml", ".yml", ".json":
			return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/'
		default:
			return false
		}
	}
}

// Exactly matches one path.
func Exactly(file string) func(string) bool { return func(p string) bool { return p == file } }
