package submission

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
)

// productYAML renders PRODUCT.yaml in the program's format and order.
func (s *Submission) productYAML(product Product) ([]byte, error) {
	meta, spec := &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range catalog.Fields() {
		if value := product.Metadata[f.Key]; value != "" {
			put(meta, f.Key, quoted(value))
		}
	}
	for _, e := range s.Entries {
		list := last(spec)
		if n := len(spec.Content); n == 0 || spec.Content[n-2].Value != e.Category {
			list = &yaml.Node{Kind: yaml.SequenceNode}
			put(spec, e.Category, list)
		}
		list.Content = append(list.Content, e.node())
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	put(root, "metadata", meta)
	put(root, "spec", spec)

	var b bytes.Buffer
	if len(s.Draft) > 0 {
		fmt.Fprintf(&b, "# %s: see %s.\n", draftMark, draftFile)
	}
	fmt.Fprintf(&b, "# CNCF AI Conformance, Kubernetes %s. Statuses and evidence: firstlight.\n", s.Version)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write %s: %w", productFile, err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write %s: %w", productFile, err)
	}
	return b.Bytes(), nil
}

// node renders one entry with its keys in the checklist's order.
func (f Filled) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "id", plain(f.ID))
	put(n, "description", quoted(f.Description))
	put(n, "level", plain(string(f.Level)))
	put(n, "status", quoted(string(f.Status)))
	links := &yaml.Node{Kind: yaml.SequenceNode}
	if len(f.Evidence) == 0 {
		links.Style = yaml.FlowStyle
	}
	for _, link := range f.Evidence {
		links.Content = append(links.Content, quoted(link))
	}
	put(n, "evidence", links)
	put(n, "notes", quoted(f.Notes))
	return n
}

func put(to *yaml.Node, key string, value *yaml.Node) {
	to.Content = append(to.Content, plain(key), value)
}

func last(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		return nil
	}
	return n.Content[len(n.Content)-1]
}

func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func quoted(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: s}
}
