package yamlstrict

import (
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Value converts the document to plain values: map[string]any, []any, string, int64, float64,
// bool and nil.
func (d *Doc) Value() (any, diag.List) {
	dec := decoder{file: d.file}
	v := dec.plain(d.root)
	return v, dec.problems
}

// Map is Value for a mapping; an empty document is an empty map, another one a problem of the
// rule notMapping.
func (d *Doc) Map(notMapping diag.Rule) (map[string]any, diag.List) {
	dec := decoder{file: d.file}
	switch v := dec.plain(d.root).(type) {
	case map[string]any:
		return v, dec.problems
	case nil:
		return map[string]any{}, dec.problems
	default:
		return nil, append(dec.problems, notMapping.At(pos(d.file, d.root), "must be a mapping, not %s", describe(d.root)))
	}
}

// Text is a scalar as written, whatever its YAML type: 1.20 stays 1.20. Given is false for a
// list or mapping.
type Text struct {
	Text  string
	Given bool
}

type decoder struct {
	file     string
	problems diag.List
}

func (d *decoder) add(r diag.Rule, n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, r.At(pos(d.file, n), format, args...))
}

func (d *decoder) plain(n *yaml.Node) any {
	n = resolved(n)
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		d.pairs(n, func(key, value *yaml.Node) { out[key.Value] = d.plain(value) })
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = d.plain(c)
		}
		return out
	case yaml.ScalarNode:
		return d.scalar(n)
	default:
		return nil
	}
}

// pairs calls yield for every key of a mapping; keys of merges (<<) come first and only if the
// mapping does not override them.
func (d *decoder) pairs(n *yaml.Node, yield func(key, value *yaml.Node)) {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if isMerge(key) {
			continue
		}
		if key.Kind != yaml.ScalarNode {
			d.add(diag.WrongType, key, "invalid key: must be a string, not %s", describe(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			d.add(diag.DuplicateKey, key, "duplicate key %q, first at line %d", key.Value, line)
		}
		seen[key.Value] = key.Line
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			d.merged(resolved(n.Content[i+1]), seen, yield)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !isMerge(key) && key.Kind == yaml.ScalarNode {
			yield(key, n.Content[i+1])
		}
	}
}

// merged yields the keys of a merge; in a list, earlier entries win.
func (d *decoder) merged(n *yaml.Node, seen map[string]int, yield func(key, value *yaml.Node)) {
	switch n.Kind {
	case yaml.MappingNode:
		d.pairs(n, func(key, value *yaml.Node) {
			if _, there := seen[key.Value]; !there {
				seen[key.Value] = key.Line
				yield(key, value)
			}
		})
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c = resolved(c); c.Kind == yaml.MappingNode {
				d.merged(c, seen, yield)
			}
		}
	default:
		d.add(diag.WrongType, n, "<< must be a mapping, not %s", describe(n))
	}
}

// scalar keeps timestamps and binary data as strings.
func (d *decoder) scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return i
		}
		var i int64
		if n.Decode(&i) == nil {
			return i
		}
		return n.Value
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
	return n.Value
}

// describe names the type of a node for messages.
func describe(n *yaml.Node) string {
	n = resolved(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	default:
		return "the string " + strconv.Quote(n.Value)
	}
}
