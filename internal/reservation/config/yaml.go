package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// MaxSize bounds a file, in bytes.
const MaxFileSize = 1 << 20

var notPlain = diag.Rule{Name: "not-plain", Severity: diag.Error, Summary: "an anchor, an alias, a merged block or a tag", Remedy: "write the value out where it counts"}

// Decode reads the document in data into the struct that into points to; name
// is for messages. The Doc, for the places of values, is nil when there is
// nothing to look further into.
func DecodeYAML(name string, data []byte, into any) (*yamlstrict.Doc, diag.List) {
	if len(data) > MaxFileSize {
		return nil, diag.List{diag.Unreadable.At(diag.Pos{File: name}, "the file is larger than %d MiB", MaxFileSize>>20).
			With("keep it below; a file of this kind that people can read is a few kilobytes")}
	}
	doc, problems := yamlstrict.Parse(name, data)
	if doc == nil {
		return nil, withRemedies(problems)
	}
	for _, o := range doc.Oddities() {
		problems = append(problems, notPlain.At(o.Pos, "%s is not taken here", o.What))
	}
	return doc, withRemedies(append(problems, doc.Decode(into)...))
}

// clearer makes errors of texts that YAML takes for numbers, and gives remedies
// that fit where the rule's own does not.
func withRemedies(problems diag.List) diag.List {
	for i, p := range problems {
		switch {
		case p.Rule == diag.Unquoted.Name:
			problems[i].Severity = diag.Error
		case p.Rule == diag.Document.Name && p.Line == 0:
			problems[i] = p.With("write what belongs there; the repository's examples have a file of each kind")
		case p.Rule == diag.Missing.Name:
			problems[i] = p.With("remove it, or write what belongs there")
		}
	}
	return problems
}

// Read is the content of a file, of which no more than MaxSize and a byte is read.
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

// From is Read of what is open already.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller names what it read
	}
	return data, nil
}

// Also is problems and those of more: of a value that could not be read it is not
// said as well that it is missing.
func MergeProblems(problems, more diag.List) diag.List {
	unread := make(map[diag.Pos]bool, len(problems))
	for _, p := range problems {
		if p.Rule == diag.Type.Name || p.Rule == diag.Missing.Name {
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
