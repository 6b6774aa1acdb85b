package resolve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/golden"
	selector "github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func explained(t *testing.T, r *resolve.Result, below string) string {
	t.Helper()
	p, err := selector.Parse(below)
	if err != nil {
		t.Fatal(err)
	}
	values, err := r.Explain(p)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%s = %v\n", v.Name, v.Value)
		for _, s := range v.Set {
			at := "-"
			if s.At != nil {
				at = s.At.String()
			}
			fmt.Fprintf(&b, "    %v by %s at %s\n", s.Value, s.Layer, at)
		}
	}
	return b.String()
}

func TestExplain(t *testing.T) {
	t.Parallel()
	a, err := resolve.ParseAssignment("gpu-operator:toolkit.enabled=false")
	if err != nil {
		t.Fatal(err)
	}
	r := must(t, load(t, recipetest.Small(), tree.Options{}), leaf, resolve.Options{Explain: true, Set: []resolve.Assignment{a}})
	golden.Compare(t, "testdata/explain.txt", []byte(explained(t, r, "")))
	for below, want := range map[string]string{
		"components.gpu-operator.version":       "components.gpu-operator.version = v25.10.2\n    v25.10.2 by h100-eks-training at recipes/overlays/h100-eks-training.yaml:13:7\n",
		"components.gpu-operator.values.nosuch": "",
		"components.*.namespace":                "", // only that it is not everything
	} {
		got := explained(t, r, below)
		if want != "" && got != want {
			t.Errorf("%s:\n%s", below, cmp.Diff(want, got))
		}
		for line := range strings.Lines(got) {
			if below == "components.*.namespace" && !strings.HasPrefix(line, " ") && !strings.Contains(line, ".namespace = ") {
				t.Errorf("%s lists %s", below, line)
			}
		}
	}
}

// Every value that is not taken for granted has a layer that set it, and the
// last of them set what there is.
func TestEveryValueIsExplained(t *testing.T) {
	t.Parallel()
	for name, loaded := range map[string]*tree.Tree{
		"small": load(t, recipetest.Small(), tree.Options{}), "generated": load(t, recipetest.Generate(80, 7), tree.Options{}),
	} {
		for _, o := range loaded.Recipes() {
			r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{Explain: true})
			if err != nil {
				t.Fatalf("%s of %s: %v", o.Name, name, err)
			}
			values, err := r.Explain(nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				switch last := v.Path[len(v.Path)-1]; {
				case len(v.Set) == 0 && (last == "enabled" || last == "chart" || last == "values"):
				case len(v.Set) == 0:
					t.Errorf("%s of %s: nothing set %s", o.Name, name, v.Name)
				case cmp.Diff(v.Value, v.Set[len(v.Set)-1].Value) != "" && last != "maxNodes":
					t.Errorf("%s of %s: %s is %v, set to %v", o.Name, name, v.Name, v.Value, v.Set[len(v.Set)-1].Value)
				}
			}
		}
	}
}
