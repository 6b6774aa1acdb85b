package tree

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
	"github.com/firstlight/firstlight/recipes"
)

// Group is the API group of the kinds that only firstlight reads.
const Group = "firstlight"

// ShippedName replaces the tree's label in the names of files embedded in firstlight.
const ShippedName = "(firstlight)"

// Asset is a YAML file of a kind that overlays do not refer to: a node profile, the list
// of accelerators, a footprint.
type Asset struct {
	// Path is relative to the recipe tree; Name is used in messages.
	Path, Name string
	// Digest is the SHA-256 of the content in hexadecimal.
	Digest string
	// Doc is nil if the file is not a YAML document.
	Doc *yamlstrict.Doc
}

// Assets returns the files whose path matches, sorted by path. If the tree has none, it
// returns those embedded in firstlight and own is false. A file that cannot be parsed has
// no Doc and a problem.
func (t *Tree) Assets(match func(path string) bool) (files []Asset, own bool, problems diag.List) {
	for _, p := range t.Paths {
		if !match(p) {
			continue
		}
		if path.Ext(p) != ".yaml" {
			problems = append(problems, diag.FileExtension.At(diag.Pos{File: t.Name(p)}, "file with the extension %s is ignored", path.Ext(p)))
			continue
		}
		f, wrong := readAsset(p, t.Name(p), t.Data)
		files, problems = append(files, f), append(problems, wrong...)
	}
	if len(files) > 0 || len(problems) > 0 {
		return files, true, problems
	}
	files, problems = shippedAssets(match)
	return files, false, problems
}

func readAsset(p, name string, data func(string) ([]byte, error)) (Asset, diag.List) {
	content, err := data(p)
	if err != nil {
		return Asset{Path: p, Name: name}, diag.List{diag.Unreadable.At(diag.Pos{File: name}, "%s", err)}
	}
	return ParseAsset(p, name, content)
}

func shippedAssets(match func(string) bool) (files []Asset, problems diag.List) {
	var paths []string
	err := fs.WalkDir(recipes.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && match(p) {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("tree: list the embedded recipes: %v", err)) // an embedded file system cannot fail
	}
	slices.Sort(paths)
	for _, p := range paths {
		f, wrong := readAsset(p, path.Join(ShippedName, p), func(p string) ([]byte, error) { return fs.ReadFile(recipes.FS, p) })
		files, problems = append(files, f), append(problems, wrong...)
	}
	return files, problems
}

// ParseAsset parses one file.
func ParseAsset(path, name string, data []byte) (Asset, diag.List) {
	doc, problems := yamlstrict.Parse(name, data)
	return Asset{Path: path, Name: name, Digest: digest.Bytes(data), Doc: doc}, problems
}

// Decode decodes the document into the value that into points to. It reports whether the
// document is of the kind; if not, into is unchanged.
func (a *Asset) Decode(kind string, into any) (bool, diag.List) {
	var problems diag.List
	if got := a.Doc.Text("kind"); got != kind && got != "" {
		return false, diag.List{diag.UnknownKind.At(a.Doc.ValueAt("kind"), "invalid kind %q: must be %s", got, kind)}
	}
	if api := a.Doc.Text("apiVersion"); api != "" && !knownGroup(api) {
		problems = append(problems, diag.APIGroup.At(a.Doc.ValueAt("apiVersion"), "unknown API group in apiVersion %q", api).
			With("write %s/v1, or %s for files that other tools read too", Group, model.APIVersion))
	}
	return true, append(problems, a.Doc.Decode(into)...)
}

func knownGroup(apiVersion string) bool {
	version, ours := strings.CutPrefix(apiVersion, Group+"/")
	return ours && version != "" || model.KnownGroup(apiVersion)
}

// At is the position of the key at a path, and ValueAt that of its value.
func (a *Asset) At(keys ...string) diag.Pos { return a.Doc.At(keys...) }

// ValueAt is the position of the value at a path.
func (a *Asset) ValueAt(keys ...string) diag.Pos { return a.Doc.ValueAt(keys...) }

// Below matches YAML and JSON files anywhere below a directory.
func Below(dir string) func(string) bool {
	return func(p string) bool {
		switch path.Ext(p) {
		case ".yaml", ".yml", ".json":
			return strings.HasPrefix(p, dir+"/")
		default:
			return false
		}
	}
}

// Exactly matches one path.
func Exactly(file string) func(string) bool { return func(p string) bool { return p == file } }
