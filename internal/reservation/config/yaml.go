package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// MaxFileSize bounds a file, in bytes.
const MaxFileSize = 1 << 20

var notPlain = diag.Rule{Name: "not-plain", Severity: diag.Error, Summary: "an anchor, an alias, a merged block or a tag", Remedy: "write the value out"}

// DecodeYAML decodes the document in data into a struct; name is used in messages. The Doc, for
// the positions of values, is nil if it cannot be decoded.
func DecodeYAML(name string, data []byte, into any) (*yamlstrict.Doc, diag.List) {
	if len(data) > MaxFileSize {
		return nil, diag.List{diag.Unreadable.At(diag.Pos{File: name}, "the file is larger than %d MiB", MaxFileSize>>20).
			With("make it smaller; such files are usually a few kilobytes")}
	}
	doc, problems := yamlstrict.Parse(name, data)
	if doc == nil {
		return nil, withRemedies(problems)
	}
	for _, o := range doc.Oddities() {
		problems = append(problems, notPlain.At(o.Pos, "%s is not allowed here", o.Feature))
	}
	return doc, withRemedies(append(problems, doc.Decode(into)...))
}

// withRemedies turns text that YAML takes for numbers into errors and adds remedies that fit these
// files.
func withRemedies(problems diag.List) diag.List {
	for i, p := range problems {
		switch {
		case p.Rule == diag.Unquoted.Name:
			problems[i].Severity = diag.Error
		case p.Rule == diag.Document.Name && p.Line == 0:
			problems[i] = p.With("add the content; the examples of the repository have a file of each kind")
		}
	}
	return problems
}

// ReadFile reads a file, at most MaxFileSize and one byte of it.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	data, err := ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// ReadAll is ReadFile for an open reader.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// MergeProblems adds more to problems, but not a second problem of a value that could not be read.
func MergeProblems(problems, more diag.List) diag.List {
	unread := make(map[diag.Pos]bool, len(problems))
	for _, p := range problems {
		if p.Rule == diag.WrongType.Name || p.Rule == diag.Missing.Name {
			unread[p.Pos] = true
		}
	}
	out := problems
	for _, p := range more {
		if !unread[p.Pos] {
			out = append(out, p)
		}
	}
	return out.Sort()
}
