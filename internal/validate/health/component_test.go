package health_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate/health"
)

func resolved(t *testing.T, c criteria.Criteria) *resolve.Result {
	t.Helper()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	r, err := resolve.Resolve(loaded, c, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every component of the tree's recipes has assertions that can be used.
func TestComponentsOfRecipes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]criteria.Criteria{
		"training":  {Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "training", Platform: "kubeflow"},
		"inference": {Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "inference", Platform: "dynamo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			components := health.Components(resolved(t, c))
			if len(components) < 8 {
				t.Errorf("%d components", len(components))
			}
			for _, line := range health.New(components, health.Deps{}, health.Options{}).Describe() {
				if !strings.Contains(line, "assertions of recipes/checks/") {
					t.Error(line)
				}
			}
		})
	}
}

func TestComponentsOfARecipe(t *testing.T) {
	t.Parallel()
	r := resolved(t, criteria.Criteria{Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "training"})
	yes := true
	of := func(name string) *model.ComponentRef {
		c, ok := r.Component(name)
		if !ok {
			t.Fatal(name)
		}
		return c
	}
	of("cert-manager").HealthCheckSkip = &yes
	of("gpu-operator").HealthCheckAsserts = "kind: Test"
	of("kai-scheduler").Overrides = map[string]any{"enabled": false}
	gone := *r.Tree().Components["nvsentinel"]
	gone.HealthCheck = &model.HealthCheck{AssertFile: "checks/none.yaml"}
	r.Tree().Components["nvsentinel"] = &gone
	got := map[string]health.Component{}
	for _, c := range health.Components(r) {
		got[c.Name] = c
	}
	if c := got["cert-manager"]; c.File != "" || !strings.Contains(c.Missing, "healthCheckSkip") {
		t.Errorf("%+v", c)
	}
	if c := got["gpu-operator"]; c.Asserts != "kind: Test" || c.Namespace != "gpu-operator" {
		t.Errorf("%+v", c)
	}
	if c := got["nvsentinel"]; c.File != "" || !strings.HasPrefix(c.Missing, "cannot read ") || !strings.Contains(c.Missing, "checks/none.yaml") {
		t.Errorf("%+v", c)
	}
	if _, there := got["kai-scheduler"]; there {
		t.Error("a disabled component is checked")
	}
	var order []string
	for _, c := range health.Components(r) {
		order = append(order, c.Name)
	}
	if !slices.IsSortedFunc(order, func(a, b string) int {
		return slices.Index(r.DeploymentOrder, a) - slices.Index(r.DeploymentOrder, b)
	}) {
		t.Error(order)
	}
}
