package yamlstrict

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

// Field is a key of a struct type with the requirements of its tags.
type Field struct {
	Key   string
	Index []int
	// Need is set for a required key, Enum has the allowed values, Min the minimum.
	Need bool
	Enum []string
	Min  *int
}

var fieldCache sync.Map // reflect.Type to []Field

// Fields returns the keys of a struct type in the order of declaration, including those of
// embedded structs.
func Fields(t reflect.Type) []Field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]Field)
	}
	var out []Field
	for _, f := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Anonymous || key == "" || key == "-" || !f.IsExported() {
			continue
		}
		field := Field{Key: key, Index: f.Index, Need: f.Tag.Get("need") == "true"}
		if enum := f.Tag.Get("enum"); enum != "" {
			field.Enum = strings.Split(enum, ",")
		}
		if least, err := strconv.Atoi(f.Tag.Get("min")); err == nil {
			field.Min = &least
		}
		out = append(out, field)
	}
	fieldCache.Store(t, out)
	return out
}

// empty reports whether the value is missing; a present struct is not empty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct:
		return false
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// demands checks a decoded value against the tags of f.
func (d *decoder) demands(f Field, v reflect.Value, n *yaml.Node) {
	if f.Need && (resolved(n).ShortTag() == "!!null" || empty(v)) {
		d.add(diag.Missing, n, "empty key %q", f.Key)
		return
	}
	if len(f.Enum) > 0 && v.Kind() == reflect.String && v.String() != "" && !slices.Contains(f.Enum, v.String()) {
		d.problems = append(d.problems, diag.BadValue.At(pos(d.file, n), "invalid value %q: want one of %s", v.String(), strings.Join(f.Enum, ", ")).
			With("write one of %s", strings.Join(f.Enum, ", ")))
	}
	if f.Min != nil && v.CanInt() && v.Int() < int64(*f.Min) {
		d.add(diag.BadValue, n, "invalid value %d: must be at least %d", v.Int(), *f.Min)
	}
}
