package assertion

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/firstlight/firstlight/internal/diag"
)

// maxFiles bounds the matches of one path and their objects.
const maxFiles = 256

// files reads the objects of the files referenced by an operation.
func (l *loader) files(d *document, o Operation, ref v1alpha1.Expression, keys []string) []found {
	at := d.At(keys...)
	pattern, err := l.resolve(o, ref)
	if err != nil {
		l.add(reference.At(at, "file %s: %s", ref, err).With("write the path, or an expression of bindings that need no cluster"))
		return nil
	}
	var out []found
	for _, name := range l.glob(at, pattern) {
		out = append(out, l.objects(at, name)...)
	}
	if len(out) > maxFiles {
		l.add(reference.At(at, "file %s has %d objects, the limit is %d", pattern, len(out), maxFiles))
		return nil
	}
	return out
}

// resolve evaluates a path with the bindings of test and step.
func (l *loader) resolve(o Operation, ref v1alpha1.Expression) (string, error) {
	s := scope{at: [levels]*source{}}
	for i := range s.at {
		s.at[i] = replay(Level{At: time.Time{}})
	}
	if err := s.test(o.Test); err != nil {
		return "", err
	}
	if err := s.step(o.Step); err != nil {
		return "", err
	}
	return ref.Value(context.Background(), s.with(o.compiler), s.bindings) //nolint:forbidigo // Chainsaw's does nothing with it; its text is for people
}

func (l *loader) glob(at diag.Pos, pattern string) []string {
	if _, err := url.ParseRequestURI(pattern); err == nil {
		l.add(reference.At(at, "invalid path %s: must be relative; URLs are not supported", pattern))
		return nil
	}
	if l.opts.Dir == nil {
		l.add(reference.At(at, "file %s: references to other files are not allowed", pattern).With("write its content under resource"))
		return nil
	}
	clean := path.Clean(pattern)
	if !fs.ValidPath(clean) {
		l.add(reference.At(at, "invalid file %s: must be below the directory", pattern))
		return nil
	}
	names, err := fs.Glob(l.opts.Dir, clean)
	if err != nil || len(names) == 0 || len(names) > maxFiles {
		l.add(reference.At(at, "file %s: %d files match", pattern, len(names)))
		return nil
	}
	slices.Sort(names)
	return names
}

// objects reads a file of objects or expressions and expands lists.
func (l *loader) objects(from diag.Pos, name string) []found {
	data, err := fs.ReadFile(l.opts.Dir, name)
	if err != nil {
		l.add(reference.At(from, "cannot read file %s: %s", name, err))
		return nil
	}
	file := path.Join(path.Dir(l.file), name)
	docs, problems := documents(file, data)
	l.problems = append(l.problems, problems...)
	if len(docs)+len(problems) == 0 {
		l.add(noOperation.At(diag.Pos{File: file}, "no object in the file"))
	}
	var out []found
	for i := range docs {
		out = append(out, l.listed(&docs[i])...)
	}
	return out
}

func (l *loader) listed(d *document) []found {
	var object map[string]any
	if err := utiljson.Unmarshal(d.content, &object); err != nil || object == nil {
		l.add(badValue.At(d.At(), "invalid document: must be a mapping"))
		return nil
	}
	u := unstructured.Unstructured{Object: object}
	if !u.IsList() {
		return []found{{u, d.ValueAt()}}
	}
	var out []found
	err := u.EachListItem(func(item runtime.Object) error {
		out = append(out, found{*item.(*unstructured.Unstructured), d.At("items")})
		return nil
	})
	if err != nil || len(out) == 0 {
		l.add(noOperation.At(d.At("items"), "the list has no objects"))
	}
	return out
}
