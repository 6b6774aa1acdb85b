package redact

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ErrStructure is returned for a YAML document whose structure does not survive the redaction.
var ErrStructure = errors.New("its secrets cannot be redacted without a change of its structure: put quotes around the values that have secrets")

// YAML is Bytes for a YAML document that is read again: it has the same structure as in, with the same
// keys. A mark in a plain scalar would be a list or a mapping, so plain scalars get quotes if necessary. A text
// that is not YAML is redacted as any other.
func YAML(in []byte) ([]byte, error) {
	out := Bytes(in)
	var before yaml.Node
	if isYAML := yaml.Unmarshal(in, &before) == nil; !isYAML || bytes.Equal(out, in) || sameStructure(&before, out) {
		return out, nil
	}
	if out = Bytes(quoted(in, &before)); sameStructure(&before, out) {
		return out, nil
	}
	return nil, ErrStructure
}

// sameStructure reports whether a text has the mappings, keys and lists of a document.
func sameStructure(before *yaml.Node, text []byte) bool {
	var after yaml.Node
	return yaml.Unmarshal(text, &after) == nil && same(before, &after)
}

func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return false
	}
	for i, child := range a.Content {
		if a.Kind == yaml.MappingNode && i%2 == 0 && child.Value != b.Content[i].Value || !same(child, b.Content[i]) {
			return false
		}
	}
	return true
}

// quoted puts quotes around the plain strings of a document that are values.
func quoted(in []byte, root *yaml.Node) []byte {
	lines := lineStarts(in)
	var edits []edit
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				if e, ok := quote(in, lines, child); ok {
					edits = append(edits, e)
				}
			}
			walk(child)
		}
	}
	walk(root)
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	return applied(in, edits)
}

func lineStarts(in []byte) []int {
	starts := []int{0}
	for i, c := range in {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// quote is the edit that quotes a plain string of one line; ok is false for another node.
func quote(in []byte, lines []int, n *yaml.Node) (e edit, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || n.ShortTag() != "!!str" || n.Value == "" || n.Line < 1 || n.Line > len(lines) {
		return edit{}, false
	}
	start := lines[n.Line-1]
	for range n.Column - 1 { // columns are characters
		_, size := utf8.DecodeRune(in[start:])
		start += size
	}
	if !bytes.HasPrefix(in[start:], []byte(n.Value)) {
		return edit{}, false
	}
	value := bytes.ReplaceAll([]byte(n.Value), []byte(`\`), []byte(`\\`))
	value = bytes.ReplaceAll(value, []byte(`"`), []byte(`\"`))
	return edit{start: start, end: start + len(n.Value), with: slices.Concat([]byte{'"'}, value, []byte{'"'})}, true
}
