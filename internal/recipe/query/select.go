package query

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// NotFoundError has the existing part of the path and the alternatives.
type NotFoundError struct {
	Path  Path
	Key   string
	There []string
}

func (e *NotFoundError) Error() string {
	at := "the document"
	if len(e.Path) > 0 {
		at = e.Path.String()
	}
	if len(e.There) == 0 {
		return fmt.Sprintf("%s is empty and has no %q", at, e.Key)
	}
	if near := diag.Nearest(e.Key, e.There); near != "" {
		return fmt.Sprintf("%s has no %q: did you mean %q?", at, e.Key, near)
	}
	return fmt.Sprintf("%s has no %q: want one of %s", at, e.Key, strings.Join(e.There, ", "))
}

// Select returns the value at a path. With * in the path, it returns the list of all existing
// values. A key with dots needs no quotes if it is unambiguous.
func Select(doc any, p Path) (any, error) { return walk(doc, nil, p) }

func walk(v any, done, rest Path) (any, error) {
	if len(rest) == 0 {
		return v, nil
	}
	key := rest[0]
	if key == "*" {
		return all(v, done, rest[1:])
	}
	switch x := v.(type) {
	case map[string]any:
		joined := ""
		for n, part := range rest {
			joined = strings.TrimPrefix(joined+"."+part, ".")
			if value, ok := x[joined]; ok {
				return walk(value, append(done, joined), rest[n+1:]) //nolint:gosec // n is below len(rest)
			}
		}
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(x) {
			return walk(x[i], append(done, key), rest[1:])
		}
	}
	return nil, &NotFoundError{Path: slices.Clone(done), Key: key, There: keys(v)}
}

// all follows rest from every child and ignores children without it.
func all(v any, done, rest Path) (any, error) {
	out := []any{}
	var last error
	for _, key := range keys(v) {
		child, err := walk(v, slices.Clone(done), Path{key})
		if err != nil {
			return nil, err
		}
		found, err := walk(child, append(slices.Clone(done), key), rest)
		if err != nil {
			last = err
			continue
		}
		out = append(out, found)
	}
	if len(out) == 0 && last != nil {
		return nil, last
	}
	return out, nil
}

// keys returns the sorted keys of a value.
func keys(v any) []string {
	switch x := v.(type) {
	case map[string]any:
		return slices.Sorted(maps.Keys(x))
	case []any:
		out := make([]string, len(x))
		for i := range x {
			out[i] = strconv.Itoa(i)
		}
		return out
	default:
		return nil
	}
}
