package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// lenient loads a tree with the rules of aicr, which ignores its defects.
func lenient(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), files), tree.Options{Label: "recipes", Legacy: true})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func overlay(name, spec string) string {
	return "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: " + name + "}\nspec:\n" + spec
}

// Keys that aicr v0.11.1 does not support have no effect: the namespace and files of a
// manifest entry of the registry, mixins, profiles, and preManifestFiles.
func TestCompatIgnoresNewerKeys(t *testing.T) {
	t.Parallel()
	loaded := lenient(t, map[string]string{
		"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n" +
			"  - {name: cert-manager, helm: {defaultNamespace: cert-manager}}\n  - {name: gpu-operator, helm: {}}\n  - {name: kube-prometheus-stack, helm: {}}\n" +
			"  - {name: prometheus-adapter, helm: {}}\n" +
			"  - {name: plain, manifest: {defaultNamespace: kube-system}, manifestFiles: [components/node-tuning/manifests/tuning.yaml]}\n" +
			"  - {name: kust, kustomize: {defaultSource: https://git.example.com/x, defaultPath: deploy, defaultTag: v1, defaultNamespace: kust}}\n",
		"overlays/x.yaml": overlay("x", "  criteria: {service: oke}\n  mixins: [os-ubuntu, none]\n"+
			"  componentRefs: [{name: plain, preManifestFiles: [registry.yaml], healthCheckSkip: true}, {name: kust}]\n"+
			"  profile: {name: p, default: a, values: {a: {componentRefs: [{name: plain, overrides: {x: 1}}]}}}\n"),
	})
	r := must(t, loaded, "service=oke", resolve.Options{Compat: true})
	for _, name := range []string{"plain", "kust"} {
		c, ok := r.Component(name)
		if !ok || c.Namespace != "" || len(c.ManifestFiles)+len(c.PreManifestFiles)+len(c.Overrides) > 0 || c.HealthCheckSkip != nil {
			t.Errorf("%s is %+v", name, c)
		}
	}
	if c, _ := r.Component("kust"); c.Source != "https://git.example.com/x" || c.Path != "deploy" || c.Tag != "v1" {
		t.Errorf("supported defaults are missing: %+v", c)
	}
	if len(r.Metadata.AppliedMixins) > 0 || r.Metadata.SelectedProfile != nil {
		t.Errorf("mixins %v, profile %v", r.Metadata.AppliedMixins, r.Metadata.SelectedProfile)
	}
	if slices.ContainsFunc(r.Constraints, func(c model.Constraint) bool { return c.Name == "OS.release.ID" }) {
		t.Error("the recipe has the constraint of a mixin")
	}
}

// To aicr only enabled: false disables a component; install: false is a value of its chart.
func TestCompatDisablesByEnabledAlone(t *testing.T) {
	t.Parallel()
	files := map[string]string{"overlays/x.yaml": overlay("x", "  criteria: {service: oke}\n  componentRefs: [{name: gpu-operator, overrides: {install: false}}, {name: cert-manager, overrides: {enabled: false}}]\n")}
	r := must(t, lenient(t, files), "service=oke", resolve.Options{Compat: true})
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	if v := selected(t, doc, "components.gpu-operator.values.install"); v != false {
		t.Errorf("install is %v", v)
	}
	for path, want := range map[string]bool{"gpu-operator": true, "cert-manager": false} {
		if v := selected(t, doc, "components."+path+".enabled"); v != want {
			t.Errorf("%s is enabled: %v", path, v)
		}
	}
}

// aicr refuses criteria that are not in its list; otherwise they would resolve to the root
// overlay, a recipe for another cluster than the query names.
func TestCompatRefusesUnknownCriteria(t *testing.T) {
	t.Parallel()
	loaded := lenient(t, nil)
	for text, part := range map[string]string{
		"service=foo":                       `unknown service "foo": aicr v0.11.1 accepts aks, eks, gke, kind, oke`,
		"service=ekss":                      "did you mean eks?",
		"service=generic":                   `unknown service "generic"`,
		"service=eks,accelerator=h200":      `unknown accelerator "h200"`,
		"service=eks,intent=train":          `unknown intent "train"`,
		"service=eks,os=talos":              `unknown os "talos"`,
		"service=eks,platform=slurm":        `unknown platform "slurm"`,
		"service=foo,intent=train":          `unknown intent "train"`,
		"service=self-managed":              "has no criteria",
		"service=any,accelerator=any":       "has no criteria",
		"os=anyy,service=eks,nodes=3":       `unknown os "anyy"`,
		"accelerator=h100 platform=kubeflo": "did you mean kubeflow?",
	} {
		q, err := criteria.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := resolve.Resolve(loaded, q, resolve.Options{Compat: true}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q; resolved: %v", text, err, part, r != nil)
		}
	}
	for _, text := range []string{"service=EKS", "service=self-managed,os=al2023", "nodes=8", "accelerator=l40,intent=inference,os=rhel,platform=dynamo"} {
		must(t, loaded, text, resolve.Options{Compat: true})
	}
}

// aicr compares the criteria of an overlay as they are written: capitals and other
// names in an overlay never apply.
func TestCompatComparesWhatOverlaysWrite(t *testing.T) {
	t.Parallel()
	loaded := lenient(t, map[string]string{
		"overlays/a.yaml": overlay("a", "  criteria: {service: EKS}\n"),
		"overlays/b.yaml": overlay("b", "  criteria: {os: al2023}\n"),
		"overlays/c.yaml": overlay("c", "  criteria: {service: self-managed}\n"),
		"overlays/d.yaml": overlay("d", "  criteria: {intent: Any}\n"),
		"overlays/e.yaml": overlay("e", "  criteria: {intent: any, os: amazonlinux}\n"),
	})
	for query, want := range map[string]string{
		"service=eks,os=al2023":       "base e monitoring-hpa eks",
		"service=self-managed,os=al2": "base e monitoring-hpa",
		"service=EKS,os=amazonlinux":  "base e monitoring-hpa eks",
		"service=oke,intent=training": "base monitoring-hpa",
	} {
		r := must(t, loaded, query, resolve.Options{Compat: true})
		if got := strings.Join(r.Metadata.AppliedOverlays, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// Lists that a layer sets are kept as written, with their duplicates; only lists of manifests
// are joined.
func TestCompatKeepsListsAsWritten(t *testing.T) {
	t.Parallel()
	loaded := lenient(t, map[string]string{
		"overlays/x.yaml": overlay("x", `  criteria: {service: oke}
  componentRefs:
    - {name: fresh, source: https://charts.example.com, dependencyRefs: [gpu-operator, cert-manager, gpu-operator], patches: [registry.yaml, registry.yaml], manifestFiles: [registry.yaml, registry.yaml]}
    - {name: gpu-operator, dependencyRefs: [cert-manager, cert-manager]}
  validation:
    readiness: {checks: [b, a, b], nodeSelection: {excludeNodes: [n, m, n]}, constraints: [{name: z, value: "1"}, {name: a, value: "2"}, {name: z, value: "3"}]}
`),
		"overlays/y.yaml": overlay("y", "  base: x\n  criteria: {service: oke, intent: training}\n  componentRefs: [{name: fresh, manifestFiles: [registry.yaml, overlays/x.yaml, overlays/x.yaml]}]\n"),
	})
	r := must(t, loaded, "service=oke,intent=training", resolve.Options{Compat: true})
	c, _ := r.Component("fresh")
	for name, diff := range map[string]string{
		"dependencyRefs": cmp.Diff([]string{"gpu-operator", "cert-manager", "gpu-operator"}, c.DependencyRefs),
		"patches":        cmp.Diff([]string{"registry.yaml", "registry.yaml"}, c.Patches),
		"manifestFiles":  cmp.Diff([]string{"registry.yaml", "registry.yaml", "overlays/x.yaml"}, c.ManifestFiles),
		"checks":         cmp.Diff([]string{"b", "a", "b"}, r.Validation.Readiness.Checks),
		"excludeNodes":   cmp.Diff([]string{"n", "m", "n"}, r.Validation.Readiness.NodeSelection.ExcludeNodes),
		"constraints":    cmp.Diff([]model.Constraint{{Name: "z", Value: "1"}, {Name: "a", Value: "2"}, {Name: "z", Value: "3"}}, r.Validation.Readiness.Constraints),
	} {
		if diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if c, _ := r.Component("gpu-operator"); len(c.DependencyRefs) != 2 {
		t.Errorf("dependencyRefs of gpu-operator are %v", c.DependencyRefs)
	}
	if _, err := r.Document(); err != nil {
		t.Error(err)
	}
}

// An overlay whose base is missing, or that is its own base, only matters to a
// query that it applies to.
func TestCompatNeedsTheBasesOfWhatApplies(t *testing.T) {
	t.Parallel()
	loaded := lenient(t, map[string]string{
		"overlays/x.yaml": overlay("x", "  base: none\n  criteria: {service: oke}\n"),
		"overlays/y.yaml": overlay("y", "  base: z\n  criteria: {service: kind}\n"),
		"overlays/z.yaml": overlay("z", "  base: y\n"),
		"overlays/w.yaml": overlay("w", "  base: y\n  criteria: {service: aks, intent: training}\n"),
	})
	for query, part := range map[string]string{
		"service=oke": "base of x not found: none", "service=kind": "y -> z -> y", "service=aks,intent=training": "y -> z -> y",
	} {
		q, err := criteria.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resolve.Resolve(loaded, q, resolve.Options{Compat: true}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", query, err, part)
		}
	}
	must(t, loaded, "service=eks", resolve.Options{Compat: true})
	must(t, loaded, "service=aks", resolve.Options{Compat: true})
}
