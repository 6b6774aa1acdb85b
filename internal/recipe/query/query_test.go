package query_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/query"
)

var doc = map[string]any{
	"components": map[string]any{
		"gpu-operator": map[string]any{"version": "v25", "values": map[string]any{"driver": map[string]any{"enabled": true}, "env": []any{"a", "b"}}},
		"nfd":          map[string]any{"version": "0.18", "values": map[string]any{}},
	},
	"constraints": map[string]any{"K8s.server.version": map[string]any{"value": ">= 1.32"}},
	"order":       []any{"nfd", "gpu-operator"},
}

func TestSelect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		selector string
		want     any
	}{
		{"components.gpu-operator.values.driver.enabled", true},
		{".components.nfd.version", "0.18"},
		{"order[1]", "gpu-operator"},
		{"order.0", "nfd"},
		{`constraints["K8s.server.version"].value`, ">= 1.32"},
		{"constraints.K8s.server.version.value", ">= 1.32"},
		{"components.*.version", []any{"v25", "0.18"}},
		{"components.*.values.driver.enabled", []any{true}},
		{"components.gpu-operator.values.env[*]", []any{"a", "b"}},
		{"", doc},
		{".", doc},
	}
	for _, tt := range tests {
		t.Run(tt.selector, func(t *testing.T) {
			t.Parallel()
			p, err := query.Parse(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			got, err := query.Select(doc, p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSelectSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]string{
		"component.nfd":                   `the document has no "component": did you mean "components"?`,
		"components.cert-manager":         `components has no "cert-manager": want one of gpu-operator, nfd`,
		"order[7]":                        `order has no "7": want one of 0, 1`,
		"order.first":                     `order has no "first": want one of 0, 1`,
		"components.nfd.version.x":        `components.nfd.version is empty and has no "x"`,
		"components.*.nothing":            `has no "nothing"`,
		"constraints.K8s.server.versions": `constraints has no "K8s": want one of K8s.server.version`,
	} {
		p, err := query.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := query.Select(doc, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v, %v", selector, v, err)
		}
	}
}

func TestWhatIsNoSelector(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a.", "a..b", "a[", "a[]", `a["b`, `a["b"`, "a[b]c", "..a"} {
		if p, err := query.Parse(text); err == nil {
			t.Errorf("%q is read as %q", text, p)
		}
	}
}

func TestFlatten(t *testing.T) {
	t.Parallel()
	var got []string
	for _, leaf := range query.Flatten(doc, func(p query.Path) bool { return p.String() == "order" }) {
		got = append(got, leaf.Path.String())
	}
	want := []string{
		"components.gpu-operator.values.driver.enabled", "components.gpu-operator.values.env", "components.gpu-operator.version",
		"components.nfd.values", "components.nfd.version", `constraints["K8s.server.version"].value`, "order.nfd", "order.gpu-operator",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a.b[3]", `a["b.c"].*`, "", ".", `["\""]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := query.Parse(text)
		if err != nil {
			return
		}
		again, err := query.Parse(p.String())
		if err != nil || cmp.Diff([]string(p), []string(again)) != "" {
			t.Errorf("%q is %q, which is read as %q, %v", text, p, again, err)
		}
		_, _ = query.Select(doc, p) // only that it ends
	})
}
