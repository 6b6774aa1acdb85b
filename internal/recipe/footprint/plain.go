package footprint

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// The readers of plain values take what YAML made of them. Of nothing they make nothing.

func (r *reader) text(v any, at place) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	default:
		r.wanted("a text", v, at)
		return ""
	}
}

func (r *reader) truth(v any, at place) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	default:
		r.wanted("true or false", v, at)
		return false
	}
}

// number reads one that fits an int32.
func (r *reader) number(v any, at place) int32 {
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
	r.wanted("a whole number", v, at)
	return 0
}

func (r *reader) list(v any, at place) []any {
	switch x := v.(type) {
	case nil:
		return nil
	case []any:
		return x
	default:
		r.wanted("a list", v, at)
		return nil
	}
}

func (r *reader) block(v any, at place) map[string]any {
	switch x := v.(type) {
	case nil:
		return nil
	case map[string]any:
		return x
	default:
		r.wanted("a block of keys", v, at)
		return nil
	}
}

// texts reads a block whose values are texts.
func (r *reader) texts(v any, at place) map[string]string {
	block := r.block(v, at)
	if len(block) == 0 {
		return nil
	}
	out := make(map[string]string, len(block))
	for _, key := range slices.Sorted(maps.Keys(block)) {
		if text, ok := block[key].(string); ok {
			out[key] = text
		} else {
			r.wanted("a text in quotes", block[key], at.at(key))
		}
	}
	return out
}

func (r *reader) wanted(what string, v any, at place) {
	r.add(rule.FootprintValue, at, "%s is wanted, this is %s", what, described(v))
}

func described(v any) string {
	switch x := v.(type) {
	case nil:
		return "empty"
	case map[string]any:
		return "a block of keys"
	case []any:
		return "a list"
	case bool:
		return fmt.Sprintf("the truth value %v", x)
	case string:
		return fmt.Sprintf("the text %q", x)
	default:
		return fmt.Sprintf("the number %v", x)
	}
}

// empty says of a value what a chart's template takes for nothing.
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
