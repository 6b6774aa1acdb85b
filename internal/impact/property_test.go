package impact_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/recipes"
)

type onTree struct {
	files fstest.MapFS
	n     int
}

// trees are what the properties are tested on, with how many changes each.
func trees() map[string]onTree {
	generated := recipetest.Whole(40, 3)
	broken := func(file, old, with string) fstest.MapFS {
		return recipetest.Edit(generated, map[string]string{file: strings.Replace(string(generated[file].Data), old, with, 1)})
	}
	leaf := "overlays/a100-cloud000-rhel-training-dynamo.yaml"
	return map[string]onTree{
		"generated": {recipetest.Whole(90, 3), 300},
		"small":     {recipetest.Small(), 130},
		"ours":      {recipetest.Copy(recipes.FS), 40},
		// Recipes that are broken before and after are selected too.
		"dependency": {broken(leaf, "      overrides:\n", "      dependencyRefs: [made-up]\n      overrides:\n"), 20},
		"circle":     {broken(leaf, "    - name: component-", "    - {name: component-11, dependencyRefs: [component-11]}\n    - name: component-"), 20},
		"mixin":      {broken("mixins/os-a.yaml", "constraints:\n", "constraints:\n    - {name: K8s.server.version, value: \"9\"}\n"), 20},
	}
}

// Over hundreds of changes, what is selected is exactly what differs when everything
// is resolved on both sides; and every recipe of which the scheduler sees something
// else than before is among it.
func TestSelectsExactlyWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, tt := range trees() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.n = max(2, tt.n/suite.Pick(30, 3, 1))
			before := measureAll(t, tt.files)
			outcomes := cellsOf(t, tt.files)
			count := map[string]int{}
			for i := range tt.n {
				m := newMutator(tt.files, uint64(i))
				what := mutate(m, i)
				after := measureAll(t, m.files)
				// Half of the changes are the other way round: from the changed tree back.
				from, to, was, is := tt.files, m.files, before, after
				if i%2 == 1 {
					from, to, was, is = to, from, is, was
					what = "back: " + what
				}
				p := plan(t, pullRequest(from, to))
				if wrong := exactly(p, was, is); wrong != "" {
					t.Fatalf("%d: %s: %s", i, what, wrong)
				}
				then, now := outcomes, cellsOf(t, m.files)
				if i%2 == 1 {
					then, now = now, then
				}
				if wrong := outcome(p, then, now); wrong != "" {
					t.Errorf("%d: %s: %s", i, what, wrong)
				}
				switch {
				case p.Everything != "":
					count["everything"]++
				case len(affected(p)) == 0:
					count["nothing"]++
				default:
					count["some"]++
				}
			}
			t.Logf("of %d changes: %v", tt.n, count)
			if tt.n > 20 && count["some"] < tt.n/3 {
				t.Errorf("too few changes affect some recipes and not others: %v", count)
			}
		})
	}
}

// mutate makes one change, or several at once.
func mutate(m *mutator, i int) string {
	var what strings.Builder
	for k := 0; k < 1+i%3; {
		one := mutations[m.r.IntN(len(mutations))]
		if i < len(mutations) && k == 0 { // each of them at least once, where it can be
			one = mutations[i]
		}
		if !one.do(m) {
			i += len(mutations)
			continue
		}
		what.WriteString(one.name + "; ")
		k++
	}
	return what.String()
}

// exactly compares a plan with the result of expected and returns the difference.
func exactly(p *impact.Plan, before, after measured) string {
	got := slices.Sorted(maps.Keys(affected(p)))
	want := slices.Sorted(maps.Keys(expected(before, after)))
	if p.Everything != "" {
		for _, name := range want {
			if !slices.Contains(got, name) {
				return fmt.Sprintf("%s is not selected, though everything is (%s)", name, p.Everything)
			}
		}
		return ""
	}
	if before.loaded.Err != nil || after.loaded.Err != nil {
		return "an invalid tree does not select everything"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "selected is not what differs:\n" + diff
	}
	for _, s := range p.Recipes {
		if m := after.recipes[s.Recipe]; s.Digest != m.Digest {
			return fmt.Sprintf("%s has digest %s in the plan, and %s", s.Recipe, s.Digest, m.Digest)
		}
	}
	return ""
}

// outcome compares a plan with the cells before and after, and returns the difference.
func outcome(p *impact.Plan, was, is map[string]string) string {
	if was == nil || is == nil {
		if p.Everything == "" {
			return "nothing can be tested, and not everything is selected"
		}
		return ""
	}
	selected := affected(p)
	for name, now := range is {
		then, there := was[name]
		if _, chosen := selected[name]; !chosen && (!there || then != now) {
			return fmt.Sprintf("the outcome of %s changes, and it is not selected", name)
		}
	}
	return ""
}

// exactly and outcome detect an incomplete plan, made here without a changed file.
func TestIncompletePlanIsDetected(t *testing.T) {
	t.Parallel()
	before := recipetest.Whole(40, 1)
	after := recipetest.Edit(before, map[string]string{"components/component-04/values.yaml": "replicas: 7\nnodeSelector: {role: system}\n"})
	in := pullRequest(before, after)
	p := plan(t, in)
	if wrong := exactly(p, measureAll(t, before), measureAll(t, after)); wrong != "" {
		t.Error(wrong)
	}
	if wrong := outcome(p, cellsOf(t, before), cellsOf(t, after)); wrong != "" {
		t.Error(wrong)
	}
	in.Changes = nil
	p = plan(t, in)
	if wrong := exactly(p, measureAll(t, before), measureAll(t, after)); !strings.Contains(wrong, "selected is not what differs") {
		t.Errorf("a plan without a change of values is accepted: %q", wrong)
	}
	if wrong := outcome(p, cellsOf(t, before), cellsOf(t, after)); !strings.Contains(wrong, "is not selected") {
		t.Errorf("a plan without a change of outcomes is accepted: %q", wrong)
	}
}

// A change of one leaf selects few.
func TestLeafSelectsFew(t *testing.T) {
	t.Parallel()
	for name, tt := range trees() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "generated" && name != "ours" {
				t.Skip("too small, or broken")
			}
			if name == "ours" {
				suite.Require(t, suite.All)
			}
			most, n := 0.0, 0
			for i := range 100 {
				one := mutations[i%len(mutations)]
				m := newMutator(tt.files, uint64(i))
				if !one.leaf || !one.do(m) {
					continue
				}
				p := plan(t, pullRequest(tt.files, m.files))
				if p.Everything != "" {
					t.Errorf("%s: %s", one.name, p.Everything)
				}
				share := float64(len(affected(p))) / float64(p.Total)
				most, n = max(most, share), n+1
				if share >= 0.1 {
					t.Errorf("%s selects %d of %d recipes", one.name, len(affected(p)), p.Total)
				}
			}
			t.Logf("%d changes of a leaf select %.1f %% at most", n, 100*most)
			if n < 10 {
				t.Errorf("only %d changes of a leaf were made", n)
			}
		})
	}
}
