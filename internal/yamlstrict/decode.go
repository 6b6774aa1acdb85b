package yamlstrict

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
)

var textType = reflect.TypeFor[Text]()

// Decode decodes into the struct that into points to.
func (d *Doc) Decode(into any) diag.List {
	dec := decoder{file: d.file}
	if resolved(d.root).ShortTag() == "!!null" {
		dec.add(diag.Document, d.root, "empty document")
	}
	dec.into(reflect.ValueOf(into).Elem(), d.root)
	return dec.problems
}

func (d *decoder) into(v reflect.Value, n *yaml.Node) {
	n = resolved(n)
	if n.ShortTag() == "!!null" {
		return
	}
	if v.Type() == textType {
		v.Set(reflect.ValueOf(Text{Text: n.Value, Given: n.Kind == yaml.ScalarNode}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.into(v.Elem(), n)
	case reflect.Struct:
		d.structure(v, n)
	case reflect.Map:
		d.mapping(v, n)
	case reflect.Slice:
		d.list(v, n)
	case reflect.Interface:
		v.Set(reflect.ValueOf(d.plain(n)))
	default:
		d.simple(v, n)
	}
}

func (d *decoder) structure(v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.add(diag.WrongType, n, "must be a mapping, not %s", describe(n))
		return
	}
	fields := Fields(v.Type())
	written := make(map[string]bool, len(n.Content)/2)
	d.pairs(n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Key == key.Value })
		if i < 0 {
			d.unknown(key, fields)
			return
		}
		before := len(d.problems)
		target := v.FieldByIndex(fields[i].Index)
		d.into(target, value)
		if len(d.problems) == before {
			d.demands(fields[i], target, value)
		}
		written[key.Value] = true
	})
	for _, f := range fields {
		if f.Need && !written[f.Key] {
			d.add(diag.Missing, n, "missing key %q", f.Key)
		}
	}
}

func (d *decoder) unknown(key *yaml.Node, fields []Field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Key
	}
	p := diag.UnknownKey.At(pos(d.file, key), "unknown key %q", key.Value)
	if near := diag.Nearest(key.Value, names); near != "" {
		p = p.With("did you mean %q? Want one of %s", near, strings.Join(names, ", "))
	} else {
		p = p.With("remove the key, it has no effect; want one of %s", strings.Join(names, ", "))
	}
	d.problems = append(d.problems, p)
}

func (d *decoder) mapping(v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.add(diag.WrongType, n, "must be a mapping, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Content)/2))
	d.pairs(n, func(key, value *yaml.Node) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.into(elem, value)
		v.SetMapIndex(reflect.ValueOf(key.Value), elem)
	})
}

func (d *decoder) list(v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.add(diag.WrongType, n, "must be a list, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if resolved(c).ShortTag() == "!!null" && v.Type().Elem().Kind() != reflect.Interface {
			d.add(diag.Missing, c, "empty list entry")
			continue
		}
		d.into(v.Index(i), c)
	}
}

func (d *decoder) simple(v reflect.Value, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		d.add(diag.WrongType, n, "must be %s, not %s", wanted(v.Kind()), describe(n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" || tag == "!!bool" {
			d.problems = append(d.problems, diag.Unquoted.At(pos(d.file, n), "must be a string, but YAML reads %s as %s", n.Value, describe(n)).
				With("write %q with quotes: other readers may change it", n.Value))
		}
		v.SetString(n.Value)
	case reflect.Int:
		i, ok := d.scalar(n).(int64)
		if !ok {
			d.add(diag.WrongType, n, "must be an integer, not %s", describe(n))
		}
		v.SetInt(i)
	case reflect.Float64:
		switch f := d.scalar(n).(type) {
		case float64:
			v.SetFloat(f)
		case int64:
			v.SetFloat(float64(f))
		default:
			d.add(diag.WrongType, n, "must be a number, not %s", describe(n))
		}
	case reflect.Bool:
		b, ok := d.scalar(n).(bool)
		if !ok {
			d.add(diag.WrongType, n, "must be true or false, not %s", describe(n))
		}
		v.SetBool(b)
	default:
		panic("yamlstrict: unsupported type " + v.Type().String()) // a programming error that any test of the type finds
	}
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Int:
		return "an integer"
	case reflect.Bool:
		return "true or false"
	default:
		return "a string"
	}
}
