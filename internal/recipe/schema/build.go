package schema

import (
	"reflect"
	"slices"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// builder builds the schema of one kind; defs are the structs that it refers to.
type builder struct {
	docs comments
	open bool
	defs object
}

// structure is the schema of a struct, equivalent to the strict decoder.
func (b *builder) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range yamlstrict.Fields(t) {
		field := t.FieldByIndex(f.Index)
		properties = append(properties, member{f.Key, b.field(t, field, f)})
		if f.Need {
			required = append(required, f.Key)
		}
	}
	out := object{{"type", "object"}}
	if doc := b.docs.of(t); doc != "" {
		out = append(object{{"description", doc}}, out...)
	}
	out = append(out, member{"properties", properties})
	if len(required) > 0 {
		out = append(out, member{"required", required})
	}
	if !b.open {
		out = append(out, member{"additionalProperties", false})
	}
	return out
}

// field is the schema of a key. An optional key may be null, which equals a missing key.
func (b *builder) field(owner reflect.Type, field reflect.StructField, f yamlstrict.Field) object {
	out := object{}
	if doc := b.docs.field(owner, f.Index); doc != "" {
		out = append(out, member{"description", doc})
	}
	value := b.value(field.Type)
	if len(f.Enum) > 0 {
		value = append(value, member{"enum", enum(f)})
	}
	if f.Min != nil {
		value = append(value, member{"minimum", *f.Min})
	}
	if !f.Need {
		return append(out, nullable(value)...)
	}
	switch field.Type.Kind() {
	case reflect.String:
		value = append(value, member{"minLength", 1})
	case reflect.Slice:
		value = append(value, member{"minItems", 1})
	case reflect.Map:
		value = append(value, member{"minProperties", 1})
	default:
	}
	return append(out, value...)
}

func enum(f yamlstrict.Field) []any {
	var out []any
	for _, e := range f.Enum {
		out = append(out, e)
	}
	if !f.Need {
		out = append(out, "", nil)
	}
	return out
}

// nullable adds null to a schema.
func nullable(value object) object {
	for i, m := range value {
		switch m.key {
		case "type":
			out := slices.Clone(value)
			out[i].value = []any{m.value, "null"}
			return out
		case "$ref":
			return object{{"anyOf", []any{value, object{{"type", "null"}}}}}
		}
	}
	return value
}

func (b *builder) value(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return b.value(t.Elem())
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Int:
		return object{{"type", "integer"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Slice:
		return object{{"type", "array"}, {"items", b.value(t.Elem())}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", nullable(b.value(t.Elem()))}}
	case reflect.Struct:
		if t == reflect.TypeFor[yamlstrict.Text]() {
			return object{}
		}
		return b.ref(t)
	default: // any
		return object{}
	}
}

// ref refers to a struct and defines it once.
func (b *builder) ref(t reflect.Type) object {
	name := t.Name()
	if !slices.ContainsFunc(b.defs, func(m member) bool { return m.key == name }) {
		b.defs = append(b.defs, member{name, nil}) // reserved, because the struct may refer to itself
		i := len(b.defs) - 1
		def := b.structure(t)
		b.defs[i].value = def
	}
	return object{{"$ref", "#/$defs/" + name}}
}
