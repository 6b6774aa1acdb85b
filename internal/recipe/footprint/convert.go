package footprint

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// These methods convert decoded YAML values; nil gives the zero value.

func (r *reader) text(v any, at position) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	default:
		r.expected("a string", v, at)
		return ""
	}
}

func (r *reader) boolean(v any, at position) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	default:
		r.expected("true or false", v, at)
		return false
	}
}

// number reads an integer that fits an int32.
func (r *reader) number(v any, at position) int32 {
	switch x := v.(type) {
	case int64:
		if x >= math.MinInt32 && x <= math.MaxInt32 {
			return int32(x)
		}
	case int:
		return r.number(int64(x), at)
	case nil:
		return 0
	}
	r.expected("an integer", v, at)
	return 0
}

func (r *reader) list(v any, at position) []any {
	switch x := v.(type) {
	case nil:
		return nil
	case []any:
		return x
	default:
		r.expected("a list", v, at)
		return nil
	}
}

func (r *reader) mapping(v any, at position) map[string]any {
	switch x := v.(type) {
	case nil:
		return nil
	case map[string]any:
		return x
	default:
		r.expected("a mapping", v, at)
		return nil
	}
}

func (r *reader) stringMap(v any, at position) map[string]string {
	block := r.mapping(v, at)
	if len(block) == 0 {
		return nil
	}
	out := make(map[string]string, len(block))
	for _, key := range slices.Sorted(maps.Keys(block)) {
		if text, ok := block[key].(string); ok {
			out[key] = text
		} else {
			r.expected("a quoted string", block[key], at.at(key))
		}
	}
	return out
}

func (r *reader) expected(what string, v any, at position) {
	r.add(rule.FootprintValue, at, "must be %s, not %s", what, describe(v))
}

func describe(v any) string {
	switch x := v.(type) {
	case nil:
		return "empty"
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case bool:
		return fmt.Sprintf("the boolean %v", x)
	case string:
		return fmt.Sprintf("the string %q", x)
	default:
		return fmt.Sprintf("the number %v", x)
	}
}

// empty reports whether a Helm template treats the value as false.
func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	case bool:
		return !x
	case string:
		return x == ""
	case int64:
		return x == 0
	case float64:
		return x == 0
	default:
		return false
	}
}
