package chart

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// change is the content of a lock to write.
type change struct {
	version, digest string
	renders         []model.FootprintRender
}

// replacement replaces the bytes from..to by text.
type replacement struct {
	from, to int
	text     string
}

// withLock returns the footprint file with the lock. All other bytes are unchanged. The result
// is parsed again and rejected if anything else differs.
func withLock(name string, data []byte, c change) ([]byte, error) {
	before, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	out, err := splice(data, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	after, err := parse(name, out)
	if err != nil {
		return nil, fmt.Errorf("%s would be invalid with the lock: %w", name, err)
	}
	want := *before
	locked := *before.Spec.Chart
	locked.Version, locked.Digest = c.version, c.digest
	want.Spec.Chart, want.Spec.Source, want.Spec.Renders = &locked, footprint.Rendered, after.Spec.Renders
	if !reflect.DeepEqual(&want, after) {
		return nil, fmt.Errorf("%s would change outside of its lock: write spec as a block mapping with one key a line", name)
	}
	drift, err := compare(c.renders, after.Spec.Renders)
	if err != nil {
		return nil, err
	}
	if len(drift) > 0 {
		return nil, fmt.Errorf("%s would not contain the lock: %s", name, drift[0])
	}
	return out, nil
}

func parse(name string, data []byte) (*model.Footprint, error) {
	doc, problems := yamlstrict.Parse(name, data)
	if doc == nil {
		return nil, problems
	}
	var f model.Footprint
	if err := doc.Decode(&f).Err(); err != nil {
		return nil, err
	}
	if f.Spec.Chart == nil {
		return nil, diag.List{diag.Missing.At(doc.At("spec"), "the footprint has no chart")}
	}
	return &f, nil
}

func splice(data []byte, c change) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	t := newLines(data)
	spec := child(root.Content[0], "spec")
	if spec == nil || spec.value.Kind != yaml.MappingNode || spec.value.Style&yaml.FlowStyle != 0 {
		return nil, errors.New("spec must be a block mapping")
	}
	var edits []replacement
	source, chart := child(spec.value, "source"), child(spec.value, "chart")
	if source == nil || chart == nil || chart.value.Kind != yaml.MappingNode {
		return nil, errors.New("spec.source is missing, or spec.chart is not a mapping")
	}
	edits = append(edits, t.scalar(source.value, footprint.Rendered, false))
	inFlow := chart.value.Style&yaml.FlowStyle != 0
	version := child(chart.value, "version")
	if version == nil {
		return nil, errors.New("spec.chart.version is missing")
	}
	if version.value.Value != c.version {
		edits = append(edits, t.scalar(version.value, quoted(c.version), inFlow))
	}
	switch digest := child(chart.value, "digest"); {
	case digest != nil:
		edits = append(edits, t.scalar(digest.value, c.digest, inFlow))
	case inFlow:
		edits = append(edits, replacement{t.tokenEnd(version.value, true), t.tokenEnd(version.value, true), ", digest: " + c.digest})
	default:
		end := t.lineEnd(version.value.Line)
		edits = append(edits, replacement{end, end, indented(version.key.Column-1, "digest: "+c.digest+"\n")})
	}
	renders, err := t.renders(spec, c.renders)
	if err != nil {
		return nil, err
	}
	return apply(data, append(edits, renders)), nil
}

// apply applies replacements, which must not overlap.
func apply(data []byte, edits []replacement) []byte {
	slices.SortStableFunc(edits, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, data[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, data[at:]...)
}

type pair struct{ key, value *yaml.Node }

func child(n *yaml.Node, key string) *pair {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return &pair{n.Content[i], n.Content[i+1]}
		}
	}
	return nil
}
