package schedule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// words are those that paths are made of, where the key of the JSON is none.
var words = map[string]string{
	"nodeSelector": "node selector", "topologySpreadConstraints": "topology spread", "priorityClassName": "priority class",
	"schedulerName": "scheduler", "hostNetwork": "host network", "hostPorts": "host ports", "notApplicable": "not applicable",
	"pod": "", "workload": "pods",
}

// flat are the facts of a value, whatever fields it has: blocks are gone into, lists
// are one fact.
func flat(v any) facts {
	data, err := json.Marshal(v)
	if err != nil {
		panic("class: encode: " + err.Error()) // texts, numbers and lists of them can be encoded
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		panic("class: decode what was encoded: " + err.Error())
	}
	out := facts{}
	flatten(out, "", doc)
	return out
}

func flatten(out facts, path string, v any) {
	block, ok := v.(map[string]any)
	if !ok {
		if text := inWords(v); text != "" {
			out[path] = text
		}
		return
	}
	if path == "affinity" || strings.HasSuffix(path, " affinity") {
		out[path] = inWords(v)
		return
	}
	for key, item := range block {
		word, known := words[key]
		if !known {
			word = key
		}
		flatten(out, strings.TrimSpace(path+" "+word), item)
	}
}

// inWords writes a value on one line; nothing where there is none.
func inWords(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v == "" {
			return `""` // a label without a value is there
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = inWords(item)
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text := inWords(v[key]); strings.ContainsAny(text, " ;") {
				parts = append(parts, fmt.Sprintf("%s (%s)", key, text))
			} else {
				parts = append(parts, key+" "+text)
			}
		}
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v)
	}
}
