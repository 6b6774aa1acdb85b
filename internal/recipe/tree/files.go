package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/digest"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// File is a file that overlays, mixins or the registry refer to.
type File struct {
	Path string
	// Digest is the SHA-256 of the content in hexadecimal.
	Digest string
	// Values of a values file. Callers must copy them before modifying them.
	Values   map[string]any
	problems diag.List
	parsed   bool
	data     []byte
}

// Read reads and caches a file.
func (t *Tree) Read(path string) (*File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read(path)
}

func (t *Tree) read(path string) (*File, error) {
	if f, ok := t.files[path]; ok {
		return f, nil
	}
	data, err := readFile(t.fsys, path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Digest: digest.Bytes(data), data: data}
	t.files[path] = f
	return f, nil
}

// Values reads and caches a values file.
func (t *Tree) Values(path string) (*File, diag.List) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := t.read(path)
	if err != nil {
		return nil, diag.List{diag.Unreadable.At(diag.Pos{File: t.Name(path)}, "%s", err)}
	}
	if !f.parsed {
		f.parsed = true
		var doc *yamlstrict.Doc
		doc, f.problems = t.document(t.Name(path), f.data)
		if doc != nil {
			var wrong diag.List
			f.Values, wrong = doc.Map(rule.ValuesFile)
			f.problems = append(f.problems, wrong...)
		} else if empty(f.problems) { // an empty values file is valid
			f.Values, f.problems = map[string]any{}, nil
		}
		f.data = nil
	}
	return f, f.problems
}

func empty(l diag.List) bool {
	return len(l) == 1 && l[0].Rule == diag.Document.Name && l[0].Line == 0
}

// document parses a file. In legacy mode it takes the first document, as aicr does.
func (t *Tree) document(name string, data []byte) (*yamlstrict.Doc, diag.List) {
	if !t.legacy {
		return yamlstrict.Parse(name, data)
	}
	doc, problems := yamlstrict.ParseFirst(name, data)
	if doc != nil {
		problems = problems.Soften(diag.Document)
	}
	return doc, problems
}

// Data reads a file of the tree without caching it; the caller may modify the result. The
// error does not name the file.
func (t *Tree) Data(path string) ([]byte, error) { return readFile(t.fsys, path) }

// Exists reports whether the tree has the file.
func (t *Tree) Exists(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.read(path)
	return err == nil
}

// doc returns a file's document; nil if it is not valid YAML.
func (t *Tree) doc(path string) *yamlstrict.Doc {
	t.mu.Lock()
	defer t.mu.Unlock()
	if doc, ok := t.docs[path]; ok {
		return doc
	}
	var doc *yamlstrict.Doc
	if data, err := readFile(t.fsys, path); err == nil {
		doc, _ = t.document(t.Name(path), data)
	}
	t.docs[path] = doc
	return doc
}

// readFile reads a regular file of limited size. Its errors do not name the file.
func readFile(fsys fs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, at.Err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, yamlstrict.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}
