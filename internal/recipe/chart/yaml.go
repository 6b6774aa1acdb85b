package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// lineWidth is the maximum length of a mapping written on one line, in bytes.
const lineWidth = 100

// writtenBy is the comment above the lock.
const writtenBy = "# Written by firstlight recipe footprint update."

// rendersText is the key renders with its value, indented by the given number of spaces.
func rendersText(renders []model.FootprintRender, indent int) (string, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range renders {
		n, err := renderNode(&renders[i])
		if err != nil {
			return "", err
		}
		list.Content = append(list.Content, n)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(block("renders", list)); err != nil {
		return "", fmt.Errorf("write YAML: %w", err)
	}
	margin := strings.Repeat(" ", indent)
	var out strings.Builder
	out.WriteString(margin + writtenBy + "\n")
	for line := range strings.Lines(b.String()) {
		out.WriteString(margin + line)
	}
	return out.String(), nil
}

func renderNode(r *model.FootprintRender) (*yaml.Node, error) {
	n := block("values", text(r.Values))
	if len(r.Recipes) > 0 {
		names := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, name := range r.Recipes {
			names.Content = append(names.Content, text(name))
		}
		put(n, "recipes", names)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range r.Workloads {
		w, err := workloadNode(&r.Workloads[i])
		if err != nil {
			return nil, err
		}
		list.Content = append(list.Content, w)
	}
	put(n, "workloads", list)
	return n, nil
}

func workloadNode(w *model.RenderedWorkload) (*yaml.Node, error) {
	n := block("kind", text(w.Kind))
	put(n, "name", text(w.Name))
	if w.Replicas > 0 {
		put(n, "replicas", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(w.Replicas)})
	}
	fields, err := podFields(&w.Pod)
	if err != nil {
		return nil, fmt.Errorf("write %s %s: %w", w.Kind, w.Name, err)
	}
	pod := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		put(pod, f.key, styled(f.value))
	}
	if len(fields) > 0 {
		put(n, "pod", pod)
	}
	return n, nil
}

func block(key string, value *yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, key, value)
	return n
}

func put(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, text(key), value)
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// styled writes short values on one line. Keys are sorted.
func styled(v any) *yaml.Node {
	n := node(v)
	flow(n)
	return n
}

func node(v any) *yaml.Node {
	switch x := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			put(n, key, node(x[key]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range x {
			n.Content = append(n.Content, node(item))
		}
		return n
	case string:
		return text(x)
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: x.String()}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(x)}
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
}

// flow marks mappings and lists that fit on a line and returns the length of that line.
func flow(n *yaml.Node) int {
	length := len(n.Value) + 2
	for _, c := range n.Content {
		length += flow(c) + 2
	}
	if n.Kind != yaml.ScalarNode && (length <= lineWidth || len(n.Content) == 0) {
		n.Style = yaml.FlowStyle
	}
	return length
}
