package footprint_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// tiny is a tree of one component, thing, with a chart of version 1.0.0; footprint
// and values are the bodies of its files. Other files replace or extend these; an empty
// body removes the file.
func tiny(footprint, values string, files map[string]string) fstest.MapFS {
	all := map[string]string{
		"overlays/base.yaml":           "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: base}\nspec:\n  componentRefs:\n    - {name: thing, valuesFile: components/thing/values.yaml}\n",
		"overlays/eks.yaml":            "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n",
		"registry.yaml":                "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, helm: {defaultRepository: https://example.com, defaultVersion: v1.0.0, defaultNamespace: things}}\n",
		"components/thing/values.yaml": values,
		"footprints/thing.yaml":        "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: thing}\nspec:\n" + footprint,
	}
	maps.Copy(all, files)
	out := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			out[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return out
}

// made are the components of the recipe eks of a tree, and every problem.
func made(t *testing.T, fsys fstest.MapFS) ([]footprint.Component, diag.List) {
	t.Helper()
	loaded, problems := tree.Load(fsys, tree.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s, problems := footprint.Load(loaded)
	r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	components, more := s.Components(r)
	return components, append(problems, more...)
}

const chart = "  chart: {repository: https://example.com, name: thing, version: 1.0.0}\n  source: documented\n"

// one is the one workload of a footprint of one, as JSON.
func one(t *testing.T, footprint, values string) string {
	t.Helper()
	components, problems := made(t, tiny(chart+footprint, values, nil))
	if len(problems) > 0 || len(components) != 1 || len(components[0].Workloads) != 1 {
		t.Fatalf("%+v, %v", components, problems)
	}
	data, err := json.Marshal(components[0].Workloads[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// told fails unless there is the problem: where, rule, and a part of its message.
func told(t *testing.T, problems diag.List, want, part string) {
	t.Helper()
	for _, p := range problems {
		if p.Rule == "" || p.Remedy == "" {
			t.Errorf("%s has no remedy", p)
		}
	}
	for _, p := range problems {
		if got := fmt.Sprintf("%s %s", p.Pos, p.Rule); got == want && strings.Contains(p.Message, part) {
			return
		}
	}
	t.Errorf("%s: %s is not among\n%v", want, part, problems)
}
