package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Over returns the site file base with the keys of the file over, whose path is name: blocks of keys are
// merged, lists and values are replaced. Relative paths in over are relative to the file. The
// result is a whole site file; Parse validates it.
func Over(base []byte, name string, over []byte) ([]byte, error) {
	if len(base) > maxSize || len(over) > maxSize {
		return nil, invalid(name, Problem{Message: fmt.Sprintf("not a site file: larger than %d MiB", maxSize>>20)})
	}
	if err := yamlstrict.Unique(over); err != nil {
		return nil, invalid(name, problemsOf(err)...)
	}
	var strict Site
	dec := yaml.NewDecoder(bytes.NewReader(over))
	dec.KnownFields(true)
	if err := dec.Decode(&strict); err != nil && !errors.Is(err, io.EOF) {
		return nil, invalid(name, problemsOf(err)...) // lines of this file
	}
	var onto, from yaml.Node
	if err := yaml.Unmarshal(base, &onto); err != nil {
		return nil, fmt.Errorf("read the site that %s changes: %w", name, err)
	}
	if err := yaml.Unmarshal(over, &from); err != nil {
		return nil, invalid(name, problemsOf(err)...)
	}
	if len(onto.Content) == 0 || onto.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("the site that %s changes is empty", name)
	}
	if len(from.Content) == 0 || from.Content[0].Kind != yaml.MappingNode {
		return nil, invalid(name, Problem{Message: "file has no keys: name those that differ from the lab's site"})
	}
	merge(onto.Content[0], from.Content[0])
	out, err := yaml.Marshal(&onto)
	if err != nil {
		return nil, fmt.Errorf("merge site %s: %w", name, err)
	}
	return out, nil
}

// merge merges two mappings.
func merge(onto, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := -1
		for j := 0; j+1 < len(onto.Content); j += 2 {
			if onto.Content[j].Value == key.Value {
				at = j + 1
			}
		}
		switch {
		case at < 0:
			onto.Content = append(onto.Content, key, value)
		case onto.Content[at].Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			merge(onto.Content[at], value)
		default:
			onto.Content[at] = value
		}
	}
}

// LoadOver is Load of the site file at base with the keys of the file at path. It also returns the
// merged file.
func LoadOver(base, path string) (*Site, []byte, error) {
	onto, err := readFile(base)
	if err != nil {
		return nil, nil, err
	}
	over, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return parseOver(onto, path, over)
}

// LoadWith is LoadOver with the keys of a text that is in no file.
func LoadWith(base, name string, over []byte) (*Site, []byte, error) {
	onto, err := readFile(base)
	if err != nil {
		return nil, nil, err
	}
	return parseOver(onto, filepath.Join(filepath.Dir(base), name), over)
}

func parseOver(onto []byte, path string, over []byte) (*Site, []byte, error) {
	merged, err := Over(onto, path, over)
	if err != nil {
		return nil, nil, err
	}
	s, err := Parse(path, merged)
	if bad, ok := errors.AsType[*InvalidError](err); ok {
		for i := range bad.Problems {
			bad.Problems[i].Line = 0 // a line of the merged file
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return s, merged, s.relativeTo(path)
}
