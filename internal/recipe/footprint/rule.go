package footprint

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// Pod fields that rules can set.
const (
	fieldReplicas  = "replicas"
	fieldResources = "resources"
)

// fields that rules can set. Values from several paths are combined if joined.
var fields = map[string]struct{ joined bool }{
	fieldReplicas: {}, fieldResources: {joined: true}, "labels": {joined: true}, "nodeSelector": {joined: true},
	"affinity": {joined: true}, "tolerations": {joined: true}, "topologySpreadConstraints": {joined: true},
	"priorityClassName": {}, "schedulerName": {}, "hostNetwork": {}, "hostPorts": {joined: true},
}

// valueRule sets a field from values.
type valueRule struct {
	field string
	paths []query.Path
	// first uses the first non-empty value instead of all values.
	first bool
}

// rulesOf parses valuesFrom: a path, a list of paths, or {firstOf: [paths]} for each field.
func (r *reader) rulesOf(from map[string]any, at position) []valueRule {
	var out []valueRule
	for _, field := range slices.Sorted(maps.Keys(from)) {
		known, ok := fields[field]
		if !ok {
			r.unknownField(field, at)
			continue
		}
		below := at.at(field)
		q := valueRule{field: field}
		switch x := from[field].(type) {
		case map[string]any:
			q.first = true
			for _, key := range slices.Sorted(maps.Keys(x)) {
				if key != "firstOf" {
					r.add(rule.FootprintShape, below.at(key), "invalid rule key %q: must be a path, a list of paths, or {firstOf: [paths]}", key)
				}
			}
			q.paths = r.paths(x["firstOf"], below.at("firstOf"))
		case []any:
			q.paths = r.paths(x, below)
			if !known.joined && len(q.paths) > 1 {
				r.add(rule.FootprintShape, below, "several values of %s cannot be combined: write {firstOf: [...]}", field)
			}
		default:
			q.paths = r.paths([]any{x}, below)
		}
		out = append(out, q)
	}
	return out
}

func (r *reader) unknownField(field string, at position) {
	names := slices.Sorted(maps.Keys(fields))
	r.add(rule.FootprintShape, at.at(field), "unknown pod field %q", field)
	last := &r.problems[len(r.problems)-1]
	if near := diag.Nearest(field, names); near != "" {
		*last = last.With("did you mean %s? Want one of %s", near, strings.Join(names, ", "))
	} else {
		*last = last.With("want one of %s", strings.Join(names, ", "))
	}
}

func (r *reader) paths(v any, at position) []query.Path {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		r.add(rule.FootprintShape, at, "must be a list of value paths, not %s", describe(v))
		return nil
	}
	var out []query.Path
	for i, item := range list {
		below := at
		if len(list) > 1 {
			below = at.at(strconv.Itoa(i))
		}
		text, ok := item.(string)
		if !ok {
			r.add(rule.FootprintShape, below, "must be a value path, not %s", describe(item))
			continue
		}
		if p := r.path(text, below); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func (r *reader) path(text string, at position) query.Path {
	p, err := query.Parse(text)
	switch {
	case err != nil:
		r.add(rule.FootprintShape, at, "%s", err)
		return nil
	case len(p) == 0 || slices.Contains(p, "*"):
		r.add(rule.FootprintShape, at, "invalid value path %q: must select one value", text)
		return nil
	}
	return p
}

// condition requires a value to be true or false.
type condition struct {
	path query.Path
	want bool
}

func (r *reader) conditions(texts []string, at position) []condition {
	var out []condition
	for i, text := range texts {
		path, negated := strings.CutPrefix(text, "!")
		if p := r.path(path, at.at(strconv.Itoa(i))); p != nil {
			out = append(out, condition{path: p, want: !negated})
		}
	}
	return out
}
