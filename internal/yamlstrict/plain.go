package yamlstrict

import (
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Oddity is a YAML feature that separates a value from the place where it takes effect.
type Oddity struct {
	diag.Pos
	// Feature is for messages: "the anchor &a", "the alias *a", "a merge (<<)", "the tag !!str".
	Feature string
}

// Oddities returns the anchors, aliases, merges and tags of a document, in order, for formats
// that require every value to be written where it takes effect.
func (d *Doc) Oddities() []Oddity { return oddities(d.file, d.root, nil) }

func oddities(file string, n *yaml.Node, found []Oddity) []Oddity {
	add := func(feature string) { found = append(found, Oddity{pos(file, n), feature}) }
	if n.Anchor != "" {
		add("the anchor &" + n.Anchor)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		add("the alias *" + n.Value)
		return found // the anchor was already visited
	case isMerge(n):
		add("a merge (<<)")
	case n.Style&yaml.TaggedStyle != 0:
		add("the tag " + n.ShortTag())
	}
	for _, c := range n.Content {
		found = oddities(file, c, found)
	}
	return found
}
