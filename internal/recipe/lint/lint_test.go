package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func run(files map[string]string) lint.Report {
	return lint.Run(tree.Load(recipetest.Edit(recipetest.Small(), files), tree.Options{Label: "recipes"}))
}

// The only defect of the small tree is deliberate: a dependency on a component that a leaf disables.
func TestTheSmallTreeIsClean(t *testing.T) {
	t.Parallel()
	r := run(nil)
	var got []string
	for _, p := range r.Problems {
		got = append(got, p.Pos.String()+" "+p.Rule)
	}
	want := []string{"recipes/overlays/base.yaml:17:38 disabled-dependency", "recipes/overlays/monitoring-hpa.yaml:12:24 disabled-dependency"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Errors != 0 || r.Warnings != 2 || r.Recipes != 7 {
		t.Errorf("got %+v", r)
	}
}

const head = "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: x}\nspec:\n"

// Every rule that loading alone does not find has a defect that makes it speak.
func TestRules(t *testing.T) {
	t.Parallel()
	overlay := func(spec string) map[string]string { return map[string]string{"overlays/x.yaml": head + spec} }
	registry := func(entry string) map[string]string {
		data := string(recipetest.Small()["registry.yaml"].Data)
		return map[string]string{"registry.yaml": data + "  - " + entry + "\n", "overlays/x.yaml": head + "  criteria: {service: oke}\n  componentRefs: [{name: n}]\n"}
	}
	tests := []struct {
		name  string
		files map[string]string
		want  string
		part  string
	}{
		{"typo in a component's name", overlay("  criteria: {service: oke}\n  componentRefs: [{name: gpu-oprator}]\n"), "recipes/overlays/x.yaml:6:26 error unknown-component", "component gpu-oprator is not in the registry"},
		{"nothing to deploy", registry("{name: n, helm: {defaultNamespace: n}}"), "recipes/overlays/x.yaml:6:26 error component-shape", "neither a chart nor manifests"},
		{"no version", registry("{name: n, helm: {defaultRepository: https://example.com, defaultChart: n}}"), "recipes/registry.yaml:78:41 error unpinned", "n has no version"},
		{"helm and kustomize", registry("{name: n, helm: {defaultRepository: https://example.com, defaultVersion: v1}, kustomize: {defaultPath: x, defaultSource: https://example.com, defaultTag: v1}}"), "recipes/registry.yaml:78:12 error registry-shape", "has 2 of"},
		{"path of a chart", overlay("  criteria: {service: oke}\n  componentRefs: [{name: cert-manager, path: deploy}]\n"), "recipes/overlays/x.yaml:6:46 error component-shape", "which only Kustomize components have"},
		{"chart without a source", overlay("  criteria: {service: oke}\n  componentRefs: [{name: mine, chart: mine, version: v1}]\n"), "recipes/overlays/x.yaml:6:39 error component-shape", "no source"},
		{"kustomize without a tag", registry("{name: n, kustomize: {defaultPath: x, defaultSource: https://example.com}}"), "recipes/registry.yaml:78:58 error unpinned", "n has no tag"},
		{"criteria against the base", overlay("  base: eks-training\n  criteria: {service: oke}\n"), "recipes/overlays/x.yaml:6:23 error base-criteria", "service=oke but is based on eks-training, which has service=eks"},
		{"never applies", overlay("  componentRefs: []\n"), "recipes/overlays/x.yaml:3:18 warning unreachable", "is not the base of another overlay"},
		{"typo in a criterion", overlay("  criteria: {service: oke, intent: trainnig}\n"), "recipes/overlays/x.yaml:5:36 warning criteria-value", "did you mean training?"},
		{"same criteria", overlay("  criteria: {service: aks, platform: any}\n"), "recipes/overlays/x.yaml:5:13 note same-criteria", "as aks: service=aks"},
		{"file name", map[string]string{"overlays/y.yaml": head + "  criteria: {service: oke}\n"}, "recipes/overlays/y.yaml:3:18 warning file-name", "x is in the file y.yaml"},
		{"no measurement", overlay("  criteria: {service: oke}\n  constraints: [{name: kubernetes, value: \">= 1.30\"}]\n"), "recipes/overlays/x.yaml:6:24 error constraint-path", "Type.Subtype.Key"},
		{"no type of measurement", overlay("  criteria: {service: oke}\n  constraints: [{name: k8s.server.version, value: \">= 1.30\"}]\n"), "recipes/overlays/x.yaml:6:24 error constraint-path", "unknown measurement type k8s"},
		{"unknown check", overlay("  criteria: {service: oke}\n  validation: {deployment: {checks: [operator-helth]}}\n"), "recipes/overlays/x.yaml:6:38 error unknown-check", "did you mean operator-health?"},
		{"check in another phase", overlay("  criteria: {service: oke}\n  validation: {conformance: {checks: [operator-health]}}\n"), "recipes/overlays/x.yaml:6:39 error check-phase", "has the phase deployment"},
		{"timeout", overlay("  criteria: {service: oke}\n  validation: {deployment: {timeout: 10}}\n"), "recipes/overlays/x.yaml:6:38 error bad-value", "invalid timeout"},
		{"profile's default", overlay("  criteria: {service: oke}\n  profile: {name: p, default: b, values: {a: {}}}\n"), "recipes/overlays/x.yaml:6:31 error profile-shape", "must be one of a"},
		{"profile's paths", overlay("  criteria: {service: oke}\n  profile: {name: p, default: a, values: {a: {componentRefs: [{name: cert-manager, overrides: {x: 1}}]}, b: {}}}\n"), "recipes/overlays/x.yaml:6:109 error profile-shape", "value b assigns nothing, but another value assigns cert-manager:x"},
		{"unknown dependency", overlay("  criteria: {service: oke}\n  componentRefs: [{name: cert-manager, dependencyRefs: [gpu-operater]}]\n"), "recipes/overlays/x.yaml:6:57 error unknown-dependency", "gpu-operater"},
		{"circle of dependencies", overlay("  criteria: {service: oke}\n  componentRefs: [{name: kube-prometheus-stack, dependencyRefs: [gpu-operator]}]\n"), "recipes/overlays/base.yaml:17:38 error dependency-cycle", "gpu-operator -> kube-prometheus-stack -> gpu-operator"},
		{"mixin conflict", overlay("  criteria: {service: oke}\n  mixins: [os-ubuntu]\n  constraints: [{name: OS.release.ID, value: rhel}]\n"), "recipes/mixins/os-ubuntu.yaml:7:36 error mixin-conflict", "constraint OS.release.ID"},
		{"tie", overlay("  criteria: {os: ubuntu}\n  componentRefs: [{name: kube-prometheus-stack, overrides: {prometheus: {prometheusSpec: {storageSpec: {emptyDir: {}}}}}}]\n"), "recipes/overlays/x.yaml:6:115 warning tie", "emptyDir is {} in x, and null in eks, which is equally specific"},
		{"a profile's other value", overlay("  criteria: {service: oke}\n  profile: {name: p, default: a, values: {a: {}, b: {componentRefs: [{name: csi-snapshots}]}}}\n"), "recipes/overlays/x.yaml:6:77 error unknown-component", "profile p=b sets values of csi-snapshots"},
		{"two profiles", map[string]string{"overlays/x.yaml": head + "  base: aks\n  criteria: {service: aks, os: ubuntu}\n  profile: {name: p, default: a, values: {a: {}}}\n"}, "recipes/overlays/x.yaml:7:19 error profile-conflict", "conflicting profiles: gpuStack of aks"},
		{"unused file", map[string]string{"components/gpu-operator/values-gke.yaml": "{}"}, "recipes/components/gpu-operator/values-gke.yaml note unused-file", ""},
		{"unused mixin", map[string]string{"mixins/m.yaml": "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: m}\nspec: {}\n"}, "recipes/mixins/m.yaml:3:18 note unused-mixin", ""},
		{"unused component", map[string]string{"registry.yaml": string(recipetest.Small()["registry.yaml"].Data) + "  - {name: n, helm: {}}\n"}, "recipes/registry.yaml:78:12 note unused-component", ""},
		{"unquoted", overlay("  criteria: {service: oke}\n  componentRefs: [{name: cert-manager, version: 1.20}]\n"), "recipes/overlays/x.yaml:6:49 warning unquoted", "1.20"},
		{"an error from loading", overlay("  bsae: eks\n"), "recipes/overlays/x.yaml:5:3 error unknown-key", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(tt.files)
			for _, p := range r.Problems {
				if got := fmt.Sprintf("%s %s %s", p.Pos, p.Severity, p.Rule); got == tt.want && strings.Contains(p.Message, tt.part) {
					return
				}
			}
			t.Errorf("%s: %s is not among\n%v", tt.want, tt.part, r.Problems)
		})
	}
}

// Without a base overlay, lint does not report the missing dependencies that follow from it.
func TestNoFollowUpProblems(t *testing.T) {
	t.Parallel()
	r := run(map[string]string{"overlays/base.yaml": ""})
	for _, p := range r.Problems {
		if p.Rule == rule.UnknownDependency.Name {
			t.Errorf("a follow-up problem: %s", p)
		}
	}
	if r.Errors == 0 {
		t.Error("no errors")
	}
}

var defects = map[string]string{
	"overlays/x.yaml":           head + "  bsae: eks\n  criteria: {service: oke, intent: trainnig}\n",
	"overlays/odd name,50%.yml": "kind: RecipeMetadata\n",
	"mixins/m.yaml":             "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: m}\nspec: {}\n",
}

func TestReports(t *testing.T) {
	t.Parallel()
	r := run(defects)
	var text, github, sarif bytes.Buffer
	for name, err := range map[string]error{"text": r.WriteText(&text), "github": r.WriteGitHub(&github), "sarif": r.WriteSARIF(&sarif, "v1.2.3")} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	asJSON, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"report.txt": text.Bytes(), "report.github": github.Bytes(), "report.sarif": sarif.Bytes(), "report.json": append(asJSON, '\n')} {
		golden.Compare(t, "testdata/"+name, got)
	}
}

func BenchmarkLint10000(b *testing.B) {
	loaded, problems := tree.Load(recipetest.Generate(10_000, 1), tree.Options{})
	for b.Loop() {
		if r := lint.Run(loaded, problems); r.Errors > 0 {
			b.Fatal(r.Problems)
		}
	}
}
