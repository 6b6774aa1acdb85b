package resolve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// An overlay that writes any for what it leaves open is less specific to
// aicr than one that leaves it out.
func TestCompatSpecificity(t *testing.T) {
	t.Parallel()
	overlay := func(name, criteria, version string) string {
		return "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: " + name + "}\nspec:\n  criteria: " + criteria +
			"\n  componentRefs: [{name: cert-manager, version: " + version + "}]\n"
	}
	fsys := recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/narrow.yaml": overlay("narrow", "{service: eks, accelerator: h100, os: any, intent: any, platform: any}", "v1-narrow"),
		"overlays/wide.yaml":   overlay("wide", "{service: eks}", "v1-wide"),
	})
	for compat, want := range map[bool]string{false: "v1-narrow", true: "v1-wide"} {
		r := must(t, load(t, fsys, tree.Options{Legacy: compat}), "service=eks,accelerator=h100", resolve.Options{Compat: compat})
		if c, ok := r.Component("cert-manager"); !ok || c.Version != want {
			t.Errorf("compat %v: version %s, want %s", compat, c.Version, want)
		}
	}
}

// With Compat, a query that no overlay covers resolves to the root overlays without an error.
func TestCompatAllowsUncoveredQueries(t *testing.T) {
	t.Parallel()
	r := must(t, load(t, recipetest.Small(), tree.Options{Legacy: true}), "service=gke,platform=dynamo", resolve.Options{Compat: true})
	if got := strings.Join(r.Metadata.AppliedOverlays, " "); got != "base monitoring-hpa" {
		t.Errorf("applied are %s", got)
	}
}

// A null in an overlay is kept in the values, as in aicr v0.11.1: otherwise recipe diff
// would show a removed key that both recipes have.
func TestNulls(t *testing.T) {
	t.Parallel()
	fsys := recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/x.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec:\n  criteria: {service: eks, platform: dynamo}\n" +
			"  componentRefs: [{name: gpu-operator, valuesFile: components/gpu-operator/nulls.yaml, overrides: {driver: {version: null}, added: null}}]\n",
		"components/gpu-operator/nulls.yaml": "dcgmExporter: null\noperator: {nodeSelector: null}\n",
	})
	for _, compat := range []bool{false, true} {
		r := must(t, load(t, fsys, tree.Options{Legacy: compat}), "service=eks,platform=dynamo", resolve.Options{Compat: compat})
		doc, err := r.Document()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"driver.version", "added", "dcgmExporter", "operator.nodeSelector"} {
			if v := selected(t, doc, "components.gpu-operator.values."+path); v != nil {
				t.Errorf("compat %v: %s is %v, want null", compat, path, v)
			}
		}
		if v := selected(t, doc, "components.gpu-operator.values.driver.enabled"); v != true {
			t.Errorf("compat %v: driver.enabled is %v", compat, v)
		}
	}
}

// Conflicts within a recipe are reported with their positions.
func TestMistakesOfRecipes(t *testing.T) {
	t.Parallel()
	overlay := func(rest string) string {
		return "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec:\n  criteria: {service: x}\n" + rest
	}
	mixin := func(rest string) string {
		return "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: m}\nspec:\n" + rest
	}
	tests := []struct {
		name, overlay, mixin string
		want, part           string
	}{
		{"unknown dependency", "  componentRefs: [{name: cert-manager, dependencyRefs: [gpu-oprator]}]\n", "", "recipes/overlays/x.yaml:6:57 unknown-dependency", "gpu-oprator, which is not in the recipe"},
		{"dependency of the root on nothing", "  componentRefs: [{name: cert-manager, dependencyRefs: [cert-manager]}]\n", "", "recipes/overlays/x.yaml:6:57 dependency-cycle", "cert-manager -> cert-manager"},
		{"circle of dependencies", "  componentRefs:\n    - name: cert-manager\n      dependencyRefs:\n        - gpu-operator\n", "", "recipes/overlays/x.yaml:9:11 dependency-cycle", "cert-manager -> gpu-operator -> cert-manager"},
		{"mixin's constraint", "  mixins: [m]\n", "  constraints: [{name: K8s.server.version, value: \">= 1.99\"}]\n", "recipes/mixins/m.yaml:5:51 mixin-conflict", "constraint K8s.server.version"},
		{"mixin's version", "  mixins: [m]\n", "  componentRefs: [{name: gpu-operator, valuesFile: components/gpu-operator/values-eks.yaml}]\n", "recipes/mixins/m.yaml:5:52 mixin-conflict", "valuesFile of component gpu-operator"},
		{"mixin's patches", "  mixins: [m]\n", "  componentRefs: [{name: gpu-operator, patches: [registry.yaml]}]\n", "recipes/mixins/m.yaml:5:49 mixin-conflict", "patches of component"},
		{"mixin's value", "  mixins: [m]\n", "  componentRefs: [{name: gpu-operator, overrides: {driver: {rdma: {enabled: true}}}}]\n", "recipes/mixins/m.yaml:5:77 mixin-conflict", "value driver.rdma.enabled"},
		{"mixin's value that an overlay set", "  mixins: [m]\n  componentRefs: [{name: gpu-operator, overrides: {dcgmExporter: {enabled: true}}}]\n", "  componentRefs: [{name: gpu-operator, overrides: {dcgmExporter: {enabled: false}}}]\n", "recipes/mixins/m.yaml:5:76 mixin-conflict", "value dcgmExporter.enabled"},
		{"profile of an unknown component", "  profile: {name: p, default: a, values: {a: {componentRefs: [{name: csi-snapshots}]}}}\n", "", "recipes/overlays/x.yaml:6:70 unknown-component", "csi-snapshots, which is not in the recipe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"overlays/x.yaml": overlay(tt.overlay)}
			if tt.mixin != "" {
				files["mixins/m.yaml"] = mixin(tt.mixin)
			}
			_, err := resolve.Resolve(load(t, recipetest.Edit(recipetest.Small(), files), tree.Options{}), query(t, "service=x"), resolve.Options{})
			list, ok := errors.AsType[diag.List](err)
			if !ok || len(list) != 1 {
				t.Fatalf("got %v", err)
			}
			if got := list[0].Pos.String() + " " + list[0].Rule; got != tt.want || !strings.Contains(list[0].Message, tt.part) {
				t.Errorf("got  %s: %s\nwant %s: %s", got, list[0].Message, tt.want, tt.part)
			}
		})
	}
}

// A mixin may add a value, repeat an equal value, set a namespace and extend a joined list.
func TestMixin(t *testing.T) {
	t.Parallel()
	fsys := recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/x.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec: {criteria: {service: x}, mixins: [m, os-ubuntu]}\n",
		"mixins/m.yaml": "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: m}\nspec:\n  constraints: [{name: OS.release.ID, value: ubuntu}]\n" +
			"  componentRefs: [{name: gpu-operator, type: Helm, namespace: privileged, dependencyRefs: [csi-snapshots], overrides: {dcgmExporter: {enabled: true}}}, {name: csi-snapshots}]\n",
	})
	r := must(t, load(t, fsys, tree.Options{}), "service=x", resolve.Options{})
	c, _ := r.Component("gpu-operator")
	if c.Namespace != "privileged" || c.DependencyRefs[len(c.DependencyRefs)-1] != "csi-snapshots" {
		t.Errorf("got %+v", c)
	}
	if got := strings.Join(r.Metadata.AppliedMixins, " "); got != "m os-ubuntu" {
		t.Errorf("mixins are %s", got)
	}
}
