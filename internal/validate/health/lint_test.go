package health_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/recipes"
)

const aTest = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\nspec:\n  steps:\n    - try:\n"

const (
	good   = aTest + "        - assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}}}\n"
	raw    = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: gpu-operator}\n"
	script = aTest + "        - script: {content: kubectl get pods}\n"
	catch  = good + "      catch:\n        - events: {}\n"
	away   = aTest + "        - assert: {file: ../other.yaml}\n"
)

// Lint reports every health check that a validation rejects, with its position, and no
// other.
func TestLintAgreesWithValidate(t *testing.T) {
	t.Parallel()
	const file = "checks/gpu-operator/health-check.yaml"
	inline := func(text string) map[string]string {
		return map[string]string{"overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n" +
			"  componentRefs:\n    - name: gpu-operator\n      healthCheckAsserts: |\n        " + strings.ReplaceAll(text, "\n", "\n        ") + "\n"}
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // its place; empty: nothing is wrong
		part  string
	}{
		"good":            {map[string]string{file: good}, "", ""},
		"good inline":     {inline(good), "", ""},
		"raw":             {map[string]string{file: raw}, "recipes/" + file + ":2:1", "not-a-test"},
		"raw inline":      {inline(raw), "recipes/overlays/eks.yaml:8:27", "healthCheckAsserts of gpu-operator:2:1: not-a-test"},
		"script":          {map[string]string{file: script}, "recipes/" + file + ":7:11", "refused-operation"},
		"script inline":   {inline(script), "recipes/overlays/eks.yaml:8:27", "refused-operation"},
		"catch":           {map[string]string{file: catch}, "recipes/" + file + ":9:11", "catch"},
		"a file above it": {map[string]string{file: away}, "recipes/" + file + ":7:20", "../other.yaml"},
		"no YAML":         {map[string]string{file: "a: ["}, "recipes/" + file + ":1:1", "syntax"},
		"nothing":         {map[string]string{file: "# to be written\n"}, "recipes/" + file, "no test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), tt.files), tree.Options{Label: "recipes"})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			usable := health.Usable(health.Components(r))
			if (usable == nil) != (tt.want == "") || usable != nil && !strings.Contains(usable.Error(), tt.part[strings.LastIndex(tt.part, " ")+1:]) {
				t.Errorf("to a validation: %v", usable)
			}
			wrong := health.Lint(loaded).Errors()
			if tt.want == "" {
				if len(wrong) > 0 {
					t.Error(wrong)
				}
				return
			}
			if len(wrong) == 0 || wrong[0].Pos.String() != tt.want || wrong[0].Rule != "health-check" || !strings.Contains(wrong[0].Message, tt.part) || wrong[0].Remedy == "" {
				t.Errorf("want %s %s, got %v", tt.want, tt.part, wrong)
			}
		})
	}
}

// A component without a health check fails a validation: lint reports each such component
// of the recipes.
func TestLintMissesHealthChecks(t *testing.T) {
	t.Parallel()
	loaded, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{
		"overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n" +
			"  componentRefs: [{name: cert-manager, healthCheckAsserts: \"" + strings.ReplaceAll(good, "\n", "\\n") + "\"}, {name: gpu-operator, healthCheckSkip: true}]\n",
	}), tree.Options{Label: "recipes"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range health.Lint(loaded) {
		got = append(got, strings.TrimPrefix(p.Pos.String(), "recipes/")+" "+p.Rule+" "+string(p.Severity))
	}
	want := []string{"overlays/eks.yaml:6:302 no-health-check warning"} // which is left out
	for _, line := range []string{"42", "49", "55", "62", "68", "73"} { // every component but cert-manager and gpu-operator
		want = append(want, "registry.yaml:"+line+":11 no-health-check warning")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	shipped, problems := tree.Load(recipes.FS, tree.Options{Label: "recipes"})
	if diff := cmp.Diff(0, len(problems)+len(health.Lint(shipped))); diff != "" {
		t.Errorf("of the tree that ships: %v, %v", problems, health.Lint(shipped))
	}
}
