package tree_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func load(t *testing.T, fsys fs.FS, o tree.Options) *tree.Tree {
	t.Helper()
	o.Label = "recipes"
	loaded, problems := tree.Load(fsys, o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return loaded
}

func TestLoad(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	want := tree.Stats{Overlays: 8, Recipes: 7, Mixins: 1, Components: 8, Validators: 4, Files: 19}
	if diff := cmp.Diff(want, loaded.Stats()); diff != "" {
		t.Error(diff)
	}
	leaf, ok := loaded.Overlay("h100-eks-ubuntu-training-kubeflow")
	if !ok || leaf.Depth != 4 || leaf.Children != 0 {
		t.Fatalf("the leaf is %+v", leaf)
	}
	var chain []string
	for _, o := range leaf.Chain() {
		chain = append(chain, o.Name)
	}
	if got := strings.Join(chain, " "); got != "eks eks-training h100-eks-training h100-eks-ubuntu-training-kubeflow" {
		t.Errorf("its chain is %s", got)
	}
	if pos := loaded.ValuePos(leaf.File, "spec", "base"); pos.String() != "recipes/overlays/h100-eks-ubuntu-training-kubeflow.yaml:6:9" {
		t.Errorf("the position of its base is %s", pos)
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	for query, want := range map[string]string{
		"service=eks":                                             "eks monitoring-hpa",
		"service=eks,intent=training":                             "eks eks-training monitoring-hpa",
		"accelerator=h100":                                        "h100-any monitoring-hpa",
		"service=aks,accelerator=h100":                            "aks h100-any monitoring-hpa",
		"service=eks,intent=training,accelerator=h100":            "eks eks-training h100-any h100-eks-training monitoring-hpa",
		"service=eks,intent=training,accelerator=h100,os=ubuntu":  "eks eks-training h100-any h100-eks-training monitoring-hpa",
		"service=gke,platform=kubeflow,nodes=4,os=cos,intent=any": "monitoring-hpa",
	} {
		q, err := criteria.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range loaded.Matching(q) {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s is matched by %s, want %s", query, got, want)
		}
	}
}

// The index has to find what asking every overlay finds.
func TestMatchingIsWhatEveryOverlaySays(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Generate(600, 3), tree.Options{})
	for _, asked := range loaded.Overlays {
		var want []string
		for _, o := range loaded.Overlays {
			if o.Applies && o.Criteria.Matches(asked.Criteria) {
				want = append(want, o.Name)
			}
		}
		var got []string
		for _, o := range loaded.Matching(asked.Criteria) {
			got = append(got, o.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s:\n%s", asked.Criteria, diff)
		}
	}
}

const header = "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: x}\n"

// Each mistake is put into a tree that has none; it has to be found at its place,
// by its rule, and be the only thing found.
func TestMistakes(t *testing.T) {
	t.Parallel()
	overlay := func(spec string) map[string]string {
		return map[string]string{"overlays/x.yaml": header + "spec:\n" + spec}
	}
	tests := []struct {
		name  string
		files map[string]string
		want  string // file:line:column rule, and part of the message
		part  string
	}{
		{"unknown key", overlay("  bsae: eks\n"), "overlays/x.yaml:5:3 unknown-key", `unknown key "bsae"`},
		{"unknown key of a component", overlay("  componentRefs:\n    - name: a\n      vershun: v1\n"), "overlays/x.yaml:7:7 unknown-key", "vershun"},
		{"wrong type", overlay("  criteria: {nodes: many}\n"), "overlays/x.yaml:5:21 wrong-type", "must be an integer"},
		{"bad value", overlay("  componentRefs: [{name: a, type: Chart}]\n"), "overlays/x.yaml:5:35 bad-value", "want one of Helm, Kustomize"},
		{"no YAML", overlay("  base: [\n"), "overlays/x.yaml:5:1 syntax", ""},
		{"no name", map[string]string{"overlays/x.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {}\nspec: {}\n"}, "overlays/x.yaml:3:11 missing", `missing key "name"`},
		{"no spec", map[string]string{"overlays/x.yaml": header}, "overlays/x.yaml:1:1 missing", `missing key "spec"`},
		{"another kind", map[string]string{"overlays/x.yaml": "kind: RecipeMetadat\napiVersion: aicr.run/v1\n"}, "overlays/x.yaml:1:7 unknown-kind", "must be RecipeMetadata"},
		{"another group", map[string]string{"overlays/x.yaml": strings.Replace(header, "aicr.run", "example.com", 1) + "spec: {}\n"}, "overlays/x.yaml:2:13 api-group", "example.com/v1beta1"},
		{"another extension", map[string]string{"overlays/x.yml": header + "spec: {}\n"}, "overlays/x.yml:0:0 file-extension", ".yml"},
		{"duplicate name", map[string]string{"overlays/z.yaml": strings.Replace(header, "name: x", "name: eks", 1) + "spec: {}\n"}, "overlays/z.yaml:3:18 duplicate-name", "overlays/eks.yaml:4:9"},
		{"name of the root", map[string]string{"overlays/z.yaml": strings.Replace(header, "name: x", "name: base", 1) + "spec: {}\n"}, "overlays/z.yaml:3:18 duplicate-name", "overlays/base.yaml"},
		{"two roots", map[string]string{"overlays/more/base.yaml": header + "spec: {}\n"}, "overlays/more/base.yaml:3:1 duplicate-name", "second root overlay"},
		{"no root", map[string]string{"overlays/base.yaml": ""}, "overlays/base.yaml:0:0 no-base", ""},
		{"missing parent", overlay("  base: esk\n"), "overlays/x.yaml:5:9 missing-parent", "base of x not found: esk"},
		{"its own parent", overlay("  base: x\n"), "overlays/x.yaml:5:9 base-cycle", "x -> x"},
		{
			"cycle", map[string]string{
				"overlays/x.yaml": header + "spec: {base: z}\n",
				"overlays/y.yaml": strings.Replace(header, "name: x", "name: y", 1) + "spec: {base: x}\n",
				"overlays/z.yaml": strings.Replace(header, "name: x", "name: z", 1) + "spec: {base: y}\n",
				"overlays/w.yaml": strings.Replace(header, "name: x", "name: w", 1) + "spec: {base: y}\n",
			}, "overlays/x.yaml:4:14 base-cycle", "x -> z -> y -> x",
		},
		{"unknown mixin", overlay("  mixins: [os-unbuntu]\n"), "overlays/x.yaml:5:12 unknown-mixin", "os-unbuntu"},
		{"mixin twice", overlay("  mixins: [os-ubuntu, os-ubuntu]\n"), "overlays/x.yaml:5:23 duplicate-entry", ""},
		{"component twice", overlay("  componentRefs: [{name: a}, {name: a}]\n"), "overlays/x.yaml:5:37 duplicate-entry", "duplicate component a"},
		{"constraint twice", overlay("  constraints: [{name: a, value: b}, {name: a, value: c}]\n"), "overlays/x.yaml:5:45 duplicate-entry", ""},
		{"constraint of a phase twice", overlay("  validation: {readiness: {constraints: [{name: a, value: b}, {name: a, value: c}]}}\n"), "overlays/x.yaml:5:70 duplicate-entry", ""},
		{"constraint", overlay("  constraints: [{name: a, value: \">= new\"}]\n"), "overlays/x.yaml:5:34 constraint-syntax", "requires a version"},
		{"missing values file", overlay("  componentRefs: [{name: a, valuesFile: components/a/valeus.yaml}]\n"), "overlays/x.yaml:5:41 missing-file", "cannot read components/a/valeus.yaml"},
		{"values file is a directory", overlay("  componentRefs: [{name: a, valuesFile: components/gpu-operator}]\n"), "overlays/x.yaml:5:41 missing-file", "not a regular file"},
		{"values file outside", overlay("  componentRefs: [{name: a, valuesFile: ../values.yaml}]\n"), "overlays/x.yaml:5:41 outside-file", ""},
		{"missing manifest", overlay("  componentRefs: [{name: a, manifestFiles: [x.yaml]}]\n"), "overlays/x.yaml:5:45 missing-file", ""},
		{"missing patch", overlay("  componentRefs: [{name: a, patches: [x.yaml]}]\n"), "overlays/x.yaml:5:39 missing-file", ""},
		{"enabled is not a boolean", overlay("  componentRefs: [{name: a, overrides: {enabled: \"false\"}}]\n"), "overlays/x.yaml:5:50 enabled-type", "must be true or false"},
		{"registry entry twice", map[string]string{"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - name: a\n  - name: a\n"}, "registry.yaml:5:5 duplicate-entry", "first at line 4"},
		{"missing check file", map[string]string{"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - name: a\n    healthCheck: {assertFile: checks/a.yaml}\n"}, "registry.yaml:5:31 missing-file", ""},
		{"check twice", map[string]string{"validators/more.yaml": "kind: ValidatorCatalog\napiVersion: aicr.run/v1\nvalidators:\n  - {name: operator-health, phase: deployment}\n"}, "validators/more.yaml:4:6 duplicate-entry", "validators/catalog.yaml:5:6"},
		{"mixin name twice", map[string]string{"mixins/x.yaml": "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: os-ubuntu}\nspec: {}\n"}, "mixins/x.yaml:3:18 duplicate-name", ""},
		{"mixin with more than it may", map[string]string{"mixins/x.yaml": "kind: RecipeMixin\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec: {validation: {}}\n"}, "mixins/x.yaml:4:8 unknown-key", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := tree.Load(recipetest.Edit(recipetest.Small(), tt.files), tree.Options{})
			if len(problems) != 1 {
				t.Fatalf("%d problems:\n%v", len(problems), problems)
			}
			p := problems[0]
			if got := fmt.Sprintf("%s:%d:%d %s", p.File, p.Line, p.Column, p.Rule); got != tt.want || !strings.Contains(p.Message, tt.part) {
				t.Errorf("got  %s: %s\nwant %s: %s", got, p.Message, tt.want, tt.part)
			}
			if p.Severity != diag.Error || p.Remedy == "" {
				t.Errorf("severity %s, remedy %q", p.Severity, p.Remedy)
			}
		})
	}
}

// An invalid values file is reported at its defect and at every reference to it.
func TestUnreadableValuesFile(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]string{"driver: [\n": "syntax", "- a\n": "values-file", "a: 1\na: 2\n": "duplicate-key"} {
		_, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{"components/gpu-operator/values.yaml": text}), tree.Options{})
		seen := map[string]string{}
		for _, p := range problems {
			seen[p.File] = p.Rule
		}
		want := map[string]string{
			"components/gpu-operator/values.yaml": rule, "overlays/base.yaml": "values-file", "overlays/h100-eks-training.yaml": "values-file",
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	_, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/x.yaml": header + "spec: {bsae: eks}\n",
		"overlays/y.yaml": strings.Replace(header, "name: x", "name: y", 1) + "spec: {base: nothing, mixins: [nothing]}\n",
		"mixins/z.yaml":   "kind: RecipeMixin\n",
		"registry.yaml":   "{",
	}), tree.Options{})
	files := map[string]bool{}
	for _, p := range problems {
		files[p.File] = true
	}
	for _, f := range []string{"overlays/x.yaml", "overlays/y.yaml", "mixins/z.yaml", "registry.yaml"} {
		if !files[f] {
			t.Errorf("no problem of %s:\n%v", f, problems)
		}
	}
}

// With Legacy, keys that aicr ignores are warnings.
func TestLegacy(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"overlays/x.yaml": header + "spec: {bsae: eks}\n",
		"overlays/y.yaml": header + "spec: {criteria: {service: any}}\n",
		"overlays/z.yml":  "kind: Other\n",
	}
	loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), files), tree.Options{Legacy: true})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"bsae", "name x is already used by", "file with the extension .yml is ignored"} {
		if !strings.Contains(problems.Error(), part) {
			t.Errorf("no warning of %s:\n%v", part, problems)
		}
	}
	x, _ := loaded.Overlay("x")
	if x.File != "overlays/y.yaml" || x.Criteria != (criteria.Criteria{}) {
		t.Errorf("of two overlays with one name, %s applies, with criteria %s", x.File, x.Criteria)
	}
}

// aicr reads every file outside of components and checks, and only the first document of a
// file; each of these trees resolves in aicr.
func TestLegacyReadsWhatAicrReads(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("# comment of some length\n", 200_000) // 4.8 MiB
	for name, tt := range map[string]struct {
		file, text string
		exists     bool // overlay x
	}{
		"outside of overlays":              {"extra/x.yaml", header + "spec: {}\n", true},
		"deep":                             {"extra/deep/x.yaml", header + "spec: {}\n", true},
		"in the directory of the mixins":   {"mixins/x.yaml", header + "spec: {}\n", true},
		"with an underscore":               {"overlays/_x.yaml", header + "spec: {}\n", true},
		"without a kind":                   {"extra/x.yaml", "metadata: {name: x}\nspec: {}\n", true},
		"of another kind":                  {"extra/x.yaml", "kind: Other\nmetadata: {name: x}\nspec: {other: 1}\n", false},
		"a check among the overlays":       {"overlays/checks/x.yaml", header + "spec: {}\n", false},
		"values among the overlays":        {"overlays/components/x.yaml", header + "spec: {}\n", false},
		"empty":                            {"overlays/y.yaml", "\n", false},
		"comments alone":                   {"overlays/y.yaml", "# nothing\n", false},
		"second document":                  {"overlays/x.yaml", header + "spec: {}\n---\nkind: Other\n", true},
		"second document of invalid YAML":  {"overlays/x.yaml", header + "spec: {}\n---\n[\n", true},
		"second document in a values file": {"components/gpu-operator/values.yaml", "a: 1\n---\nb: 2\n", false},
		"a file of more than 4 MiB":        {"overlays/x.yaml", big + header + "spec: {}\n", true},
		"no base":                          {"overlays/x.yaml", header + "spec: {base: none}\n", true},
		"its own base":                     {"overlays/x.yaml", header + "spec: {base: x}\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{tt.file: tt.text}), tree.Options{Legacy: true})
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if _, exists := loaded.Overlay("x"); exists != tt.exists {
				t.Errorf("overlay exists: %v", exists)
			}
		})
	}
}

// If the registry has two entries of a component, the last one applies.
func TestLegacyTakesTheLastComponent(t *testing.T) {
	t.Parallel()
	registry := "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: a, helm: {defaultVersion: v1}}\n  - {name: a, helm: {defaultVersion: v2}}\n"
	loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{"registry.yaml": registry}), tree.Options{Legacy: true})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if c := loaded.Components["a"]; c.Helm.DefaultVersion != "v2" || c.Index != 1 {
		t.Errorf("entry %d counts, version %s", c.Index, c.Helm.DefaultVersion)
	}
}

// An overlay outside of overlays/ is ignored with a warning.
func TestAnOverlayOutsideOfOverlays(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"extra/x.yaml", "overlay/eks/x.yaml", "components/gpu-operator/x.yaml"} {
		loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{file: header + "spec: {}\n"}), tree.Options{Label: "recipes"})
		if _, exists := loaded.Overlay("x"); exists || len(problems) != 1 || problems[0].Rule != "stray-overlay" || problems[0].Severity != diag.Warning || problems[0].File != "recipes/"+file {
			t.Errorf("%s: exists %v, %v", file, exists, problems)
		}
	}
}

func TestCacheSharesWhatIsParsed(t *testing.T) {
	t.Parallel()
	cache := &tree.Cache{}
	first := load(t, recipetest.Small(), tree.Options{Cache: cache})
	second := load(t, recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec: {criteria: {service: eks}}\n",
	}), tree.Options{Cache: cache})
	for _, o := range first.Overlays {
		again, _ := second.Overlay(o.Name)
		if shared := again.Overlay == o.Overlay; shared == (o.Name == "eks") {
			t.Errorf("%s is shared: %v", o.Name, shared)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for path, file := range recipetest.Small() {
		f.Add(path, string(file.Data))
	}
	f.Add("overlays/base.yaml", "spec: {base: base}")
	f.Add("overlays/x.yaml", header+"spec: {base: x, componentRefs: [{name: ../.., valuesFile: components/../registry.yaml}]}")
	f.Fuzz(func(t *testing.T, path, text string) {
		if !fs.ValidPath(path) || path == "." {
			return
		}
		fsys := recipetest.Small()
		if _, dir := fsys[path+"/x"]; dir {
			return
		}
		fsys = recipetest.Edit(fsys, map[string]string{path: text + "\n"})
		a, before := tree.Load(fsys, tree.Options{})
		_, after := tree.Load(recipetest.Shuffled(fsys, 1), tree.Options{})
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("problems depend on the order of files:\n%s", diff)
		}
		for _, o := range a.Overlays {
			if len(o.Chain()) != o.Depth {
				t.Errorf("%s has depth %d and a chain of %d", o.Name, o.Depth, len(o.Chain()))
			}
		}
	})
}
