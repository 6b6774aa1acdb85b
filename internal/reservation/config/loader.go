package config

import (
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Loader collects the problems of a file while its content is built.
type Loader struct {
	Doc      *yamlstrict.Doc
	Problems diag.List
}

// Add adds a problem of the value at a path.
func (l *Loader) Add(r diag.Rule, path []string, format string, args ...any) {
	l.Problems = append(l.Problems, r.At(l.Doc.ValueAt(path...), format, args...))
}

// Parse decodes a file into an F and builds its content; name is used in messages. The error is a
// diag.List with all problems, each with position and remedy.
func Parse[F, T any](name string, data []byte, build func(*Loader, *F) *T) (*T, error) {
	var f F
	doc, problems := DecodeYAML(name, data, &f)
	if doc == nil {
		return nil, problems.Sort().Err()
	}
	l := &Loader{Doc: doc}
	content := build(l, &f)
	if err := MergeProblems(problems, l.Problems).Err(); err != nil {
		return nil, err
	}
	return content, nil
}
