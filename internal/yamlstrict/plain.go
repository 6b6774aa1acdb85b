package yamlstrict

import (
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Oddity is a place where a document does not just say what it means.
type Oddity struct {
	diag.Pos
	// What is there: "the anchor &a", "the alias *a", "a merged block (<<)", "the tag !!str".
	What string
}

// Oddities are the anchors, aliases, merged blocks and tags of a document, in
// its order: for formats in which every value has to stand where it counts.
func (d *Doc) Oddities() []Oddity { return oddities(d.file, d.root, nil) }

func oddities(file string, n *yaml.Node, found []Oddity) []Oddity {
	add := func(what string) { found = append(found, Oddity{pos(file, n), what}) }
	if n.Anchor != "" {
		add("the anchor &" + n.Anchor)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		add("the alias *" + n.Value)
		return found // what it stands for has been looked at where it is
	case isMerge(n):
		add("a merged block (<<)")
	case n.Style&yaml.TaggedStyle != 0:
		add("the tag " + n.ShortTag())
	}
	for _, c := range n.Content {
		found = oddities(file, c, found)
	}
	return found
}
