package schedule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// words maps JSON keys to words in paths.
var words = map[string]string{
	"nodeSelector": "node selector", "topologySpreadConstraints": "topology spread", "priorityClassName": "priority class",
	"schedulerName": "scheduler", "hostNetwork": "host network", "hostPorts": "host ports", "notApplicable": "not applicable",
	"pod": "", "workload": "pods",
}

// flat converts a value to facts: objects recursively, a list is one fact.
func flat(v any) facts {
	data, err := json.Marshal(v)
	if err != nil {
		panic("schedule: encode: " + err.Error()) // strings, numbers and lists of them can be encoded
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		panic("schedule: decode: " + err.Error())
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

// inWords formats a value on one line; empty for nil.
func inWords(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v == "" {
			return `""` // an empty label value is a fact
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
