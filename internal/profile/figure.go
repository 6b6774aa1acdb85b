package profile

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// figureKeys are what a figure has: each of them, and nothing else.
var figureKeys = []string{"value", "unit", "source"}

// UnmarshalYAML demands every key of a figure: a value that is left out would be read as
// zero, which switches its check off.
func (f *Figure) UnmarshalYAML(n *yaml.Node) error {
	have := map[string]bool{}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if !slices.Contains(figureKeys, key.Value) {
				return fmt.Errorf("line %d: unknown field %q of a figure: want a value, a unit and a source", key.Line, key.Value)
			}
			have[key.Value] = value.Tag != "!!null"
		}
	}
	for _, key := range figureKeys {
		if !have[key] {
			return fmt.Errorf("line %d: a figure needs a value, a unit and a source: %s is missing", n.Line, key)
		}
	}
	type plain Figure // without this method
	if err := n.Decode((*plain)(f)); err != nil {
		return fmt.Errorf("read a figure: %w", err)
	}
	return nil
}
