package attest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// difference is one place in which two documents differ.
type difference struct {
	path       string
	have, want any // nil: absent
}

// compare lists the differing leaves of the JSON of have and want, sorted by path.
func compare(have, want any) ([]difference, error) {
	a, err := generic(have)
	if err != nil {
		return nil, err
	}
	b, err := generic(want)
	if err != nil {
		return nil, err
	}
	var out []difference
	for _, path := range slices.Sorted(maps.Keys(union(a, b))) {
		if x, y := a[path], b[path]; x != y {
			out = append(out, difference{path: path, have: x, want: y})
		}
	}
	return out, nil
}

// generic returns the leaves of the JSON of a value by path.
func generic(v any) (map[string]any, error) {
	data, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if data, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("encode to compare: %w", err)
		}
	}
	if err := strictjson.Check(data); err != nil {
		return nil, fmt.Errorf("decode to compare: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("decode to compare: %w", err)
	}
	leaves := map[string]any{}
	flatten(leaves, "", tree)
	return leaves, nil
}

// flatten adds leaves by path. List items are addressed by name, so that a missing item does not
// shift the others.
func flatten(into map[string]any, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			flatten(into, strings.TrimPrefix(path+"."+key, "."), child)
		}
		if len(v) == 0 {
			into[path] = "{}"
		}
	case []any:
		seen := map[string]bool{}
		for i, child := range v {
			label := labelOf(child)
			if label == "" || seen[label] {
				label = fmt.Sprint(i)
			}
			seen[label] = true
			flatten(into, path+"["+label+"]", child)
		}
		into[path+" (order)"] = strings.Join(labels(v), ", ")
	default:
		into[path] = v
	}
}

// labelOf is the name of a list item.
func labelOf(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, key := range []string{"step", "name", "path"} {
		if s, ok := m[key].(string); ok {
			return s
		}
	}
	return ""
}

func labels(items []any) []string {
	out := make([]string, len(items))
	for i, item := range items {
		if out[i] = labelOf(item); out[i] == "" {
			out[i] = fmt.Sprint(i)
		}
	}
	return out
}

func union(a, b map[string]any) map[string]bool {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// shown formats a leaf.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}
