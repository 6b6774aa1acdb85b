package profile

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// data has the parts of the profiles that ship: base.yaml, a file for each node with its GPUs
// (gpus), for each fabric between nodes (fabrics), and for what fabrics of a kind share (kinds).
//
//go:embed data
var data embed.FS

// parts lists the files of a folder of data by name.
func parts(folder string) []string {
	entries, err := fs.ReadDir(data, path.Join("data", folder))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// part reads one file as a mapping.
func part(name string) (*yaml.Node, error) {
	raw, err := data.ReadFile(path.Join("data", name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("read part of a profile: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read %s.yaml: %w", name, err)
	}
	return doc.Content[0], nil
}

// Names lists the profiles that ship with firstlight: each GPU alone, for nodes without a fabric
// between them, and with each fabric that has figures for it.
func Names() []string { return slices.Clone(names()) }

var names = sync.OnceValue(func() []string {
	names := parts("gpus")
	for _, fabric := range parts("fabrics") {
		node, err := part("fabrics/" + fabric)
		if err != nil {
			return nil
		}
		_, with := cut(node, "with")
		for i := 0; with != nil && i < len(with.Content); i += 2 {
			names = append(names, with.Content[i].Value+"-"+fabric)
		}
	}
	slices.Sort(names)
	return names
})

// split finds the parts of a profile's name; fabric is empty for a GPU alone.
func split(name string) (gpu, fabric string, ok bool) {
	for _, gpu := range parts("gpus") {
		if name == gpu {
			return gpu, "", true
		}
		if fabric, found := strings.CutPrefix(name, gpu+"-"); found && slices.Contains(parts("fabrics"), fabric) && slices.Contains(names(), name) {
			return gpu, fabric, true
		}
	}
	return "", "", false
}

// compose writes the profile of a name as one document, as Parse reads it.
func compose(name, gpu, fabric string) ([]byte, error) {
	out, err := part("base")
	if err != nil {
		return nil, err
	}
	hardware, err := part("gpus/" + gpu)
	if err != nil {
		return nil, err
	}
	hardware, summary := cut(hardware, "summary")
	text := summary.Value
	merge(out, hardware)
	if fabric != "" {
		network, err := part("fabrics/" + fabric)
		if err != nil {
			return nil, err
		}
		network, summary := cut(network, "summary")
		network, with := cut(network, "with")
		if kind := child(network, "fabric", "kind").Value; slices.Contains(parts("kinds"), kind) {
			shared, err := part("kinds/" + kind)
			if err != nil {
				return nil, err
			}
			merge(out, shared)
		}
		merge(out, network)
		merge(out, child(with, gpu))
		text = fmt.Sprintf("%s, %s %s", text, child(out, "node", "hcas", "value").Value, summary.Value)
	}
	head := fmt.Sprintf("apiVersion: firstlight/v1\nkind: Profile\nname: %s\nsummary: %s\n", name, text)
	var body bytes.Buffer
	enc := yaml.NewEncoder(&body)
	enc.SetIndent(2)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("write profile %s: %w", name, err)
	}
	return append([]byte(head), body.Bytes()...), nil
}

// merge puts a mapping over another: a figure or list replaces one, and rows of ceilings are added.
func merge(into, over *yaml.Node) {
	for i := 0; i < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		was := child(into, key.Value)
		switch {
		case was.Kind == 0:
			into.Content = append(into.Content, key, value)
		case key.Value == "ceilings":
			was.Style = value.Style
			was.Content = append(was.Content, value.Content...)
		case was.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode && child(was, "value").Kind == 0:
			was.Style = value.Style
			merge(was, value)
		default:
			*was = *value
		}
	}
}

// child is the value at a path of keys; the zero node if it is missing.
func child(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		next := &yaml.Node{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				next = node.Content[i+1]
			}
		}
		node = next
	}
	return node
}

// cut takes a key and its value out of a mapping; nil if it is missing.
func cut(node *yaml.Node, key string) (rest, value *yaml.Node) {
	copied := *node
	copied.Content = nil
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			value = node.Content[i+1]
			continue
		}
		copied.Content = append(copied.Content, node.Content[i], node.Content[i+1])
	}
	return &copied, value
}
