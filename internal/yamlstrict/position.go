package yamlstrict

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// At is the position of the key at a path of keys and list indexes. If the path does not exist,
// it is that of its longest existing prefix.
func (d *Doc) At(path ...string) diag.Pos {
	node, at := resolved(d.root), d.root
	for _, part := range path {
		key, value := child(node, part)
		if value == nil {
			break
		}
		node, at = resolved(value), key
	}
	return pos(d.file, at)
}

// ValueAt is the position of the value at a path.
func (d *Doc) ValueAt(path ...string) diag.Pos {
	node, at := resolved(d.root), d.root
	for _, part := range path {
		_, value := child(node, part)
		if value == nil {
			break
		}
		node, at = resolved(value), value
	}
	return pos(d.file, at)
}

// Has reports whether the path exists.
func (d *Doc) Has(path ...string) bool {
	node := resolved(d.root)
	for _, part := range path {
		_, value := child(node, part)
		if value == nil {
			return false
		}
		node = resolved(value)
	}
	return true
}

// Text is the scalar at a path as written; empty if absent.
func (d *Doc) Text(path ...string) string {
	node := resolved(d.root)
	for _, part := range path {
		_, value := child(node, part)
		if value == nil {
			return ""
		}
		node = resolved(value)
	}
	if node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// child returns the key and value of a path element; for a list entry both are the entry.
func child(n *yaml.Node, part string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i], n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if isMerge(n.Content[i]) {
				if key, value = mergedChild(n.Content[i+1], part); value != nil {
					return key, value
				}
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	default:
	}
	return nil, nil
}

func mergedChild(n *yaml.Node, part string) (key, value *yaml.Node) {
	n = resolved(n)
	if n.Kind != yaml.SequenceNode {
		return child(n, part)
	}
	for _, c := range n.Content {
		if key, value = child(resolved(c), part); value != nil {
			return key, value
		}
	}
	return nil, nil
}

func isMerge(key *yaml.Node) bool { return key.Tag == "!!merge" }
