package beside

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Group is the API group of kinds that only firstlight has.
const Group = "firstlight"

// File is one YAML file.
type File struct {
	// Path is relative to the recipe tree; Name is what it is called in messages.
	Path, Name string
	// Digest is the SHA-256 of the content, in hexadecimal.
	Digest string
	// Doc is nil where the file is no YAML document.
	Doc *yamlstrict.Doc
}

// Parse reads one file.
func Parse(path, name string, data []byte) (File, diag.List) {
	sum := sha256.Sum256(data)
	doc, problems := yamlstrict.Parse(name, data)
	return File{Path: path, Name: name, Digest: hex.EncodeToString(sum[:]), Doc: doc}, problems
}

// Decode fills in what into points to, if the file is of the kind and of a group
// that is known. It says whether it was of the kind.
func (f *File) Decode(kind string, into any) (bool, diag.List) {
	var problems diag.List
	if got := f.Doc.Text("kind"); got != kind && got != "" {
		return false, diag.List{diag.Kind.At(f.Doc.ValueAt("kind"), "the file is of kind %q, and %s is expected here", got, kind)}
	}
	if api := f.Doc.Text("apiVersion"); api != "" && !known(api) {
		problems = append(problems, diag.Group.At(f.Doc.ValueAt("apiVersion"), "apiVersion %q is of no group that this format has", api).
			With("write %s/v1, or %s for what other tools read too", Group, model.APIVersion))
	}
	return true, append(problems, f.Doc.Decode(into)...)
}

func known(apiVersion string) bool {
	version, ours := strings.CutPrefix(apiVersion, Group+"/")
	return ours && version != "" || model.KnownGroup(apiVersion)
}

// At is where a path stands in the file, and ValueAt its value.
func (f *File) At(keys ...string) diag.Pos { return f.Doc.At(keys...) }

// ValueAt is where a path's value stands.
func (f *File) ValueAt(keys ...string) diag.Pos { return f.Doc.ValueAt(keys...) }
