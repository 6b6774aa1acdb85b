package yamlstrict

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Limits of what a text may make a YAML library do. A library decodes an anchor again for each of its aliases, compares
// each key of a mapping with all of its other keys, and each tag directive with all earlier ones.
const (
	maxKeys       = 2000    // of one mapping, where each is compared with all: 2 million comparisons
	maxDirectives = 100     // a document has one or two
	maxExpanded   = MaxSize // bytes of scalars, with anchors expanded
	maxLevels     = 10_000  // nested, as in the libraries
)

// Bounded returns an error if the anchors of YAML documents expand out of proportion to the text. Call it before another
// library decodes YAML given by others. It leaves errors of syntax to that library.
func Bounded(data []byte) error { return bounds{}.check(data) }

// Unique is Bounded for go.yaml.in/yaml/v3 with a target other than a Node. It also returns an error for a key that is
// twice in a mapping: the library collects an error for each pair of equal keys.
func Unique(data []byte) error { return bounds{unique: true}.check(data) }

// bounds checks the documents of a text.
type bounds struct{ unique bool }

func (b bounds) check(data []byte) error {
	if err := directives(data); err != nil {
		return err
	}
	if !b.unique && bytes.IndexByte(data, '&') < 0 {
		return nil // without an anchor nothing expands
	}
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			return nil //nolint:nilerr // the end, or an error that the library reports itself
		}
		left := expansion{nodes: maxNodes, bytes: maxExpanded}
		if p := left.spend("", &n, false, 0, maxLevels); p != nil {
			return fmt.Errorf("line %d: %s: %s", p.Line, p.Message, p.Remedy)
		}
		if b.unique {
			if err := unique(&n); err != nil {
				return err
			}
		}
	}
}

func directives(data []byte) error {
	if bytes.Count(data, []byte("\n%TAG")) > maxDirectives {
		return fmt.Errorf("more than %d tag directives", maxDirectives)
	}
	return nil
}

// unique requires that each key is once in its mapping.
func unique(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		if len(n.Content)/2 > maxKeys {
			return fmt.Errorf("line %d: mapping has more than %d keys", n.Line, maxKeys)
		}
		type key struct {
			kind  yaml.Kind
			value string
		}
		lines := make(map[key]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if first, twice := lines[key{k.Kind, k.Value}]; twice {
				return fmt.Errorf("line %d: mapping key %q already defined at line %d", k.Line, k.Value, first)
			}
			lines[key{k.Kind, k.Value}] = k.Line
		}
	}
	for _, c := range n.Content {
		if err := unique(c); err != nil {
			return err
		}
	}
	return nil
}

// expansion has the nodes and bytes that a document may still take.
type expansion struct{ nodes, bytes int }

// spend counts the nodes of a document with anchors expanded, and the bytes of their scalars. Below an alias
// everything counts. The text itself counts only with all, since the size of the file bounds it.
func (e *expansion) spend(file string, n *yaml.Node, all bool, depth, most int) *diag.Problem {
	if all {
		e.nodes--
		e.bytes -= len(n.Value)
	}
	if depth > most || e.nodes < 0 || e.bytes < 0 {
		p := diag.Document.At(pos(file, n), "document is too large, too deep or recursive").
			With("write it without nested anchors")
		return &p
	}
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil {
			p := diag.Syntax.At(pos(file, n), "anchor %q not found", n.Value)
			return &p
		}
		return e.spend(file, n.Alias, true, depth+1, most)
	}
	for _, c := range n.Content {
		if p := e.spend(file, c, all, depth+1, most); p != nil {
			return p
		}
	}
	return nil
}
