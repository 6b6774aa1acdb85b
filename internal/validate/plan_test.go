package validate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/site"
)

func labSite(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := embedded.DefaultSite()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// labRecipe is the recipe that the lab takes.
func labRecipe(t *testing.T) *resolve.Result {
	t.Helper()
	shipped, problems, err := recipe.Open("", tree.Options{})
	if err := errors.Join(err, problems.Err()); err != nil {
		t.Fatal(err)
	}
	r, err := resolve.Resolve(shipped, criteria.Criteria{Service: "kind", Accelerator: "h100", Intent: "training"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// caseFor is a case of the recipe that the lab takes for an intent.
func caseFor(t *testing.T, intent pipeline.Intent, gpus int) Case {
	t.Helper()
	s, p := labSite(t)
	r := labRecipe(t)
	steps, err := pipeline.Steps()
	if err != nil {
		t.Fatal(err)
	}
	o, err := pipeline.Derive(steps, intent, gpus)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Of("h100-kind-training", r, s, p, o)
	if err != nil {
		t.Fatal(err)
	}
	c.Version = "1.36"
	return c
}

// The plan has the steps of the pipeline's data, in the same order and with the same needs.
func TestThePlanIsThePipeline(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	for _, intent := range pipeline.Intents() {
		t.Run(string(intent), func(t *testing.T) {
			t.Parallel()
			c := caseFor(t, intent, 32)
			made, err := c.Plan(s, p, conformance.Deps{})
			if err != nil {
				t.Fatal(err)
			}
			required, err := Requirements("1.36")
			if err != nil {
				t.Fatal(err)
			}
			recommended, err := Recommended("1.36")
			if err != nil || len(recommended) != 6 {
				t.Fatalf("%v, %v", recommended, err)
			}
			want := append([]string{"snapshot", "resources", "autoscaling", "health"}, required...)
			if intent != pipeline.Conformance {
				want = append(want, string(intent))
			}
			order, err := made.Order()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, step := range order {
				got = append(got, step.Name())
				if len(step.Describe) == 0 {
					t.Errorf("%s does not say what it does", step.Name())
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the order is %v, want %v", got, want)
			}
			for _, id := range required {
				step, _ := made.Step(id)
				if should := slices.Contains(recommended, id); step.Recommended != should {
					t.Errorf("%s is recommended: %t", id, step.Recommended)
				}
				after := []string{"autoscaling", "health"}
				if step.Recommended { // required checks run first
					after = append(after, required[:len(required)-len(recommended)]...)
				}
				if !slices.Equal(step.Needs, []string{"resources"}) || !slices.Equal(step.After, after) {
					t.Errorf("%s needs %v, and comes after %v", id, step.Needs, step.After)
				}
			}
			if holding := c.Holding(); (len(holding) == 1) != (intent != pipeline.Conformance) {
				t.Errorf("%v holds GPUs", holding)
			}
			judges, err := c.Judges(s, p)
			if err != nil || len(judges) != len(want) {
				t.Errorf("%d judges, %v", len(judges), err)
			}
			for _, judge := range judges {
				if j := judge.Judge(nil); j.Verdict == "passed" || j.Verdict == "" {
					t.Errorf("%s of nothing is %q", judge.Name(), j.Verdict)
				}
			}
		})
	}
}

// Each requirement and recommendation of a version has a check: otherwise a run proves less
// than it reports. Required checks run first.
func TestEveryDemandHasACheck(t *testing.T) {
	t.Parallel()
	for _, version := range catalog.Versions() {
		ids, err := Requirements(version)
		if err != nil {
			t.Errorf("%s: %v", version, err)
		}
		p, err := catalog.Load(version)
		if err != nil {
			t.Fatal(err)
		}
		recommended, err := Recommended(version)
		if err != nil {
			t.Errorf("%s: %v", version, err)
		}
		musts := len(ids) - len(recommended)
		if !slices.Equal(ids[musts:], recommended) {
			t.Errorf("%s: %v does not end with what is recommended, %v", version, ids, recommended)
		}
		for _, r := range p.Requirements {
			i := slices.Index(ids, r.ID)
			if i < 0 {
				t.Errorf("%s: there is no check of %s", version, r.ID)
			}
			if (r.Level == catalog.Must) != (i < musts) {
				t.Errorf("%s: %s is a %s, and %d of %v", version, r.ID, r.Level, i, ids)
			}
		}
	}
	if _, err := Requirements("1.20"); !errors.Is(err, catalog.ErrNoVersion) {
		t.Errorf("unknown version: %v", err)
	}
}

func TestReasonsAreOfKnownRequirements(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	c := caseFor(t, pipeline.Training, 32)
	c.NotApplicable = map[string]string{"cluster_autoscaling": "nodes are bought"}
	made, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if step, _ := made.Step("cluster_autoscaling"); step.NotApplicable != "nodes are bought" {
		t.Errorf("%q", step.NotApplicable)
	}
	c.NotApplicable["cluster_autoscalign"] = "a typo"
	if _, err := c.Plan(s, p, conformance.Deps{}); !errors.Is(err, plan.ErrInvalid) || !strings.Contains(err.Error(), "cluster_autoscalign") {
		t.Errorf("%v", err)
	}
}

// Without an autoscaler of nodes the other requirements are judged, and the step looks for none.
func TestConformanceRunsWithoutAnAutoscaler(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	c := caseFor(t, pipeline.Training, 32)
	for declared, want := range map[string]string{"": "", "cluster_autoscaling": "", "cluster_autoscaling pod_autoscaling": "does not apply (bought)"} {
		c.NotApplicable = map[string]string{}
		for id := range strings.FieldsSeq(declared) {
			c.NotApplicable[id] = "bought"
		}
		made, err := c.Plan(s, p, conformance.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		if step, _ := made.Step("dra_support"); slices.Contains(step.Needs, "autoscaling") || !slices.Contains(step.After, "autoscaling") || !slices.Contains(step.Needs, "resources") {
			t.Errorf("%q: dra_support needs %v, after %v", declared, step.Needs, step.After)
		}
		step, _ := made.Step("autoscaling")
		if fixed := !strings.Contains(strings.Join(step.Describe, " "), "read the autoscaler"); fixed != (declared != "") || !strings.Contains(step.NotApplicable, want) || (step.NotApplicable != "") != (want != "") {
			t.Errorf("%q: %q, not applicable %q", declared, step.Describe, step.NotApplicable)
		}
	}
}

// A run of an earlier version is replayed with the plan that it had: its step autoscaling applied, and looked for an autoscaler.
func TestThePlanOfAnEarlierOrderIsAsItWas(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	c := caseFor(t, pipeline.Training, 32)
	c.Order.Steps = pipeline.Earlier(c.Order.Steps)
	c.NotApplicable = map[string]string{"cluster_autoscaling": "bought", "pod_autoscaling": "bought"}
	made, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	if step, _ := made.Step("autoscaling"); step.NotApplicable != "" || !strings.Contains(strings.Join(step.Describe, " "), "read the autoscaler") {
		t.Errorf("%q, not applicable %q", step.Describe, step.NotApplicable)
	}
	if step, _ := made.Step("dra_support"); !slices.Equal(step.Needs, []string{"autoscaling"}) || !slices.Equal(step.After, []string{"health"}) {
		t.Errorf("dra_support needs %v, after %v", step.Needs, step.After)
	}
}

func TestLast(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Inference, 32)
	for step, want := range map[string]string{"": "", "snapshot": "snapshot", "intent": "inference"} {
		if got, err := c.Last(step); err != nil || got != want {
			t.Errorf("%s: %s, %v", step, got, err)
		}
	}
	if got, err := c.Last("conformance"); err != nil || got == "" || got == "conformance" {
		t.Errorf("conformance: %s, %v", got, err)
	}
	for _, step := range []string{"artifacts", "burn-in"} {
		if _, err := c.Last(step); err == nil {
			t.Errorf("%s is taken", step)
		}
	}
}

// A site that needs no fast network does not have to offer one, unless it says otherwise.
func TestNotApplicableStepsFollowFromTheSite(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	c := caseFor(t, pipeline.Conformance, 8)
	one := *s
	one.Inventory.Nodes = s.Inventory.Nodes[:1]
	for name, tt := range map[string]struct {
		s    *site.Site
		said string
		want string
	}{
		"a fabric":           {s, "", ""},
		"one node":           {&one, "", "the site has one node: no communication between pods leaves it"},
		"one node, and said": {&one, "it is a laptop", "it is a laptop"},
	} {
		c := c
		if tt.said != "" {
			c.NotApplicable = map[string]string{"high_performance_networking": tt.said}
		}
		made, err := c.Plan(tt.s, p, conformance.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		if step, _ := made.Step("high_performance_networking"); step.NotApplicable != tt.want {
			t.Errorf("%s: %q", name, step.NotApplicable)
		}
	}
}
