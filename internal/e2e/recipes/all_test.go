package recipes_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestEveryRecipeSchedules: all of our tree, each with its controls; the evidence
// is whole and leads to the same verdicts again.
func TestEveryRecipeSchedules(t *testing.T) {
	suite.Require(t, suite.All)
	r := program.Run(t.Context(), "recipe", "list", "-o", "json")
	var list struct{ List []struct{ Name string } }
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil {
		t.Fatalf("recipe list: %v\n%s", err, r.Stderr)
	}
	listed := list.List
	if len(listed) <= 60 {
		t.Fatalf("the tree has %d recipes, more than 60 are promised", len(listed))
	}
	all := schedule(t, 0, "--all")
	if all.Verdict != "passed" || all.Tier != 3 {
		t.Errorf("%s in tier %d: %s", all.Verdict, all.Tier, all.Reason)
	}
	var want, got []string
	for _, o := range listed {
		want = append(want, o.Name)
	}
	for _, res := range all.Recipes {
		got = append(got, res.Recipe)
		if res.Pods == 0 || res.Nodes == 0 || res.Controls == 0 || res.Fingerprint == "" {
			t.Errorf("%s passed with %d pods, %d nodes, %d controls", res.Recipe, res.Pods, res.Nodes, res.Controls)
		}
	}
	slices.Sort(want)
	if !slices.Equal(want, got) {
		t.Errorf("%d recipes are listed, %d were tested", len(want), len(got))
	}
	replayAgrees(t, all)
}

func replayAgrees(t *testing.T, r report) {
	t.Helper()
	if len(r.Evidence) != 1 {
		t.Fatalf("evidence: %v", r.Evidence)
	}
	for _, args := range [][]string{{"evidence", "verify", r.Evidence[0]}, {"evidence", "replay", r.Evidence[0]}} {
		got := program.Run(t.Context(), args...)
		if got.Code != 0 {
			t.Errorf("firstlight %s exited %d:\n%s%s", strings.Join(args, " "), got.Code, got.Stdout, got.Stderr)
		}
		if args[1] == "replay" && !strings.Contains(got.Stdout, "identical") {
			t.Errorf("replay:\n%s", got.Stdout)
		}
	}
}

// genericPass tests tier 1, which has no recipe of one accelerator, and passes.
func genericPass(t *testing.T) {
	t.Helper()
	r := schedule(t, 0, "--tier", "1")
	if r.Tier != 1 || r.Verdict != "passed" || len(r.Recipes) == 0 {
		t.Errorf("%s, %d recipes", r.Verdict, len(r.Recipes))
	}
	for _, res := range r.Recipes {
		for _, accelerator := range []string{"h100", "h200", "b200", "a100", "l40s", "gb200"} {
			if strings.HasPrefix(res.Recipe, accelerator) {
				t.Errorf("%s is not generic", res.Recipe)
			}
		}
	}
}

// nfdToleration is what lets node-feature-discovery find GPU nodes.
const nfdToleration = `  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
      effect: NoSchedule
`

// TestALostTolerationIsFound: the recipe that it concerns fails for that, with the
// cause first, another provider's passes, and the evidence says the same again.
func TestALostTolerationIsFound(t *testing.T) {
	tree := ourTree(t)
	values := filepath.Join(tree, "components", "node-feature-discovery", "values.yaml")
	edit(t, values, nfdToleration, "")
	r := schedule(t, 1, "h100-eks-amazonlinux-training", "--recipes", tree)
	if r.Verdict != "failed" || len(r.Recipes) != 1 || len(r.Recipes[0].Findings) == 0 {
		t.Fatalf("%s: %+v", r.Verdict, r.Recipes)
	}
	first := r.Recipes[0].Findings[0]
	if !strings.Contains(first.Suspect, "node-feature-discovery-worker") || !strings.Contains(first.Message, "nvidia.com/gpu") {
		t.Errorf("the first finding is of %s: %s", first.Suspect, first.Message)
	}
	replayAgrees(t, r)
}
