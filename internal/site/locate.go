package site

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineOf finds the line of a path such as "inventory.nodes.2.name" in a YAML
// document; if the path does not exist, the line of its deepest existing part.
func lineOf(root *yaml.Node, path string) int {
	line, _ := locate(root, path)
	return line
}

// locate returns the line and the value of a path, or the line of its nearest parent and nil.
func locate(root *yaml.Node, path string) (int, *yaml.Node) {
	node := root
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	line := node.Line
	if path == "" {
		return line, node
	}
	for part := range strings.SplitSeq(path, ".") {
		next, at := child(node, part)
		if next == nil {
			return line, nil
		}
		node, line = next, at
	}
	return line, node
}

func child(node *yaml.Node, part string) (*yaml.Node, int) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == part {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	default:
	}
	return nil, 0
}
