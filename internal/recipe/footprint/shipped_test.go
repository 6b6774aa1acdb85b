package footprint_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// shipped is the tree that ships, with files put into it.
func shipped(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	loaded, problems := tree.Load(recipetest.Edit(recipes.FS, files), tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func load(t *testing.T, loaded *tree.Tree) *footprint.Set {
	t.Helper()
	s, problems := footprint.Load(loaded)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// Every recipe that ships schedules pods, each of them of a class, and nothing is
// wrong with any.
func TestEveryRecipeSchedulesPods(t *testing.T) {
	t.Parallel()
	loaded := shipped(t, nil)
	s := load(t, loaded)
	recipes, workloads := 0, 0
	for _, o := range loaded.Recipes() {
		r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		components, problems := s.Components(r)
		if len(problems) > 0 {
			t.Errorf("%s: %v", o.Name, problems)
		}
		if len(components) != len(r.DeploymentOrder) {
			t.Errorf("%s: %d components of %d", o.Name, len(components), len(r.DeploymentOrder))
		}
		n := 0
		for i, c := range components {
			if c.Name != r.DeploymentOrder[i] || c.Source == "" || c.File == "" {
				t.Errorf("%s: %s %s is at the index of %s in the deployment order", o.Name, c.Name, c.File, r.DeploymentOrder[i])
			}
			for _, w := range c.Workloads {
				n++
				sound(t, o.Name, c.Name, &w)
			}
		}
		if n < 15 {
			t.Errorf("%s schedules %d workloads", o.Name, n)
		}
		recipes, workloads = recipes+1, workloads+n
	}
	t.Logf("%d recipes, %d workloads", recipes, workloads)
	if recipes < 60 {
		t.Errorf("%d recipes", recipes)
	}
}

func sound(t *testing.T, recipe, component string, w *footprint.Workload) {
	t.Helper()
	switch w.Class {
	case footprint.System, footprint.Accelerated, footprint.Any:
	default:
		t.Errorf("%s: %s of %s is of class %q", recipe, w.Name, component, w.Class)
	}
	if w.Namespace == "" || w.Name == "" || (w.Replicas < 1) != (w.Kind == "DaemonSet") {
		t.Errorf("%s: %+v", recipe, w)
	}
}

// Values change the pods: a recipe has the workloads that the chart's defaults enable,
// unless it disables them.
func TestValuesChangeThePods(t *testing.T) {
	t.Parallel()
	loaded := shipped(t, nil)
	s := load(t, loaded)
	count := func(set ...resolve.Assignment) int {
		r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		components, problems := s.Components(r)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range components {
			n += len(c.Workloads)
		}
		return n
	}
	before := count()
	for _, tt := range []struct {
		component, path string
		value           any
		more            int
	}{
		{"gpu-operator", "nfd.enabled", true, 3},
		{"gpu-operator", "devicePlugin.enabled", false, -1},
		{"gpu-operator", "nodeStatusExporter.enabled", true, 1},
		{"kube-prometheus-stack", "grafana.enabled", false, -1},
		{"node-feature-discovery", "gc.enable", nil, -1},
	} {
		path, err := query.Parse(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := count(resolve.Assignment{Component: tt.component, Path: path, Value: tt.value}); got != before+tt.more {
			t.Errorf("%s of %s: %d workloads, before %d", tt.path, tt.component, got, before)
		}
	}
}
