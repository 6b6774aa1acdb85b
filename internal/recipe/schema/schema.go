package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Dir is the directory of the published schemas in the repository.
const Dir = "recipes/schemas"

type kind struct {
	file, name string
	of         reflect.Type
	// open is set for files that other programs write with additional keys.
	open bool
	// asset is set for kinds that may use firstlight's API group.
	asset bool
}

var kinds = []kind{
	{"recipe-metadata.json", model.KindOverlay, reflect.TypeFor[model.Overlay](), false, false},
	{"recipe-mixin.json", model.KindMixin, reflect.TypeFor[model.Mixin](), false, false},
	{"component-registry.json", model.KindRegistry, reflect.TypeFor[model.Registry](), false, false},
	{"validator-catalog.json", model.KindCatalog, reflect.TypeFor[model.Catalog](), false, false},
	{"recipe-criteria.json", model.KindCriteria, reflect.TypeFor[model.CriteriaFile](), false, false},
	{"recipe-result.json", model.KindRecipe, reflect.TypeFor[model.Recipe](), false, false},
	{"node-profile.json", model.KindNodeProfile, reflect.TypeFor[model.NodeProfile](), false, true},
	{"footprint.json", model.KindFootprint, reflect.TypeFor[model.Footprint](), false, true},
	{"accelerators.json", model.KindAccelerators, reflect.TypeFor[model.Accelerators](), false, true},
	{"snapshot.json", model.KindSnapshot, reflect.TypeFor[model.Snapshot](), true, false},
}

// All returns the schemas by file name. root is the repository, whose source comments are the
// descriptions.
func All(root string) (map[string][]byte, error) {
	docs := comments{}
	for _, dir := range []string{"model", "criteria"} {
		if err := docs.read(filepath.Join(root, "internal", "recipe", dir)); err != nil {
			return nil, err
		}
	}
	out := map[string][]byte{}
	for _, k := range kinds {
		data, err := k.schema(docs)
		if err != nil {
			return nil, err
		}
		out[k.file] = data
	}
	return out, nil
}

func (k kind) schema(docs comments) ([]byte, error) {
	b := builder{docs: docs, open: k.open, defs: object{}}
	top := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "urn:firstlight:" + k.name},
		{"title", k.name},
	}
	body := b.structure(k.of)
	for i, m := range body {
		if properties, ok := m.value.(object); ok && m.key == "properties" {
			body[i].value = header(properties, k.name, k.groups())
		}
	}
	top = append(top, body...)
	if len(b.defs) > 0 {
		top = append(top, member{"$defs", b.defs})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(top); err != nil {
		return nil, fmt.Errorf("encode the schema of %s: %w", k.name, err)
	}
	return buf.Bytes(), nil
}

// groups returns a pattern of the accepted API groups.
func (k kind) groups() string {
	if k.asset {
		return `^(firstlight|aicr\.run|aicr\.nvidia\.com|validator\.nvidia\.com)/.+$`
	}
	return `^(aicr\.run|aicr\.nvidia\.com|validator\.nvidia\.com)/.+$`
}

// header restricts kind and apiVersion to this kind and its API groups.
func header(properties object, name, groups string) object {
	out := append(object{}, properties...)
	for i, m := range out {
		was, ok := m.value.(object)
		if !ok {
			continue
		}
		switch m.key {
		case "kind":
			out[i].value = append(append(object{}, was...), member{"const", name})
		case "apiVersion":
			out[i].value = append(append(object{}, was...), member{"pattern", groups})
		}
	}
	return out
}

// object is a JSON object with ordered members.
type object []member

type member struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, fmt.Errorf("encode a key: %w", err)
		}
		b.Write(key)
		b.WriteByte(':')
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.value); err != nil {
			return nil, fmt.Errorf("encode %s: %w", m.key, err)
		}
		b.Write(bytes.TrimSpace(value.Bytes()))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
