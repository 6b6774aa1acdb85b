package recipes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// change is an edit of our tree.
type change struct{ file, old, with string }

// changes are of each kind of file that pods and nodes come from; some make recipes
// fail, some change nothing that a test would see.
func changes() map[string]change {
	return map[string]change{
		"values":    {"components/node-feature-discovery/values.yaml", nfdToleration, ""},
		"profile":   {"nodes/eks/eks-p5-48xlarge.yaml", "name: vpc.amazonaws.com/efa,", "name: vpc.amazonaws.com/efas,"},
		"arch":      {"nodes/gke/gke-a3-megagpu-8g.yaml", "arch: amd64", "arch: arm64"},
		"criteria":  {"overlays/h100-eks-ubuntu-training.yaml", "accelerator: h100", "accelerator: h200"},
		"no effect": {"nodes/aks/aks-nd96isr-h100-v5.yaml", "name: rdma/shared_ib,", "name:  rdma/shared_ib,"},
	}
}

// TestSelectionMissesNothing tests all recipes before and after a change, by running
// them: every recipe with a different result must have been selected for the change.
// Each change needs a test of all recipes: make soak.
func TestSelectionMissesNothing(t *testing.T) {
	suite.Require(t, suite.Soak)
	repo := repository(t)
	tree := filepath.Join(repo, "recipes")
	before := outcomes(t, tree)
	told := 0
	for name, c := range changes() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(tree, filepath.FromSlash(c.file))
			edit(t, file, c.old, c.with)
			defer git(t, repo, "checkout", "-q", ".")
			selected, differ := affected(t, tree), 0
			for recipe, after := range outcomes(t, tree) {
				if was, seen := before[recipe]; !seen || after == was {
					continue
				}
				differ++
				if !selected[recipe] {
					t.Errorf("%s came to %q and comes to %q, and was not selected", recipe, before[recipe], after)
				}
			}
			told += differ
			t.Logf("%d of %d recipes come to something else, %d were selected", differ, len(before), len(selected))
			if len(selected) == 0 || len(selected) > len(before)*3/4 && name != "values" {
				t.Errorf("%d recipes of %d were selected", len(selected), len(before))
			}
		})
	}
	if told == 0 {
		t.Error("no change made any recipe come to something else: nothing could have been missed")
	}
}

// outcomes are what each recipe comes to: its verdict, its first cause.
func outcomes(t *testing.T, tree string) map[string]string {
	t.Helper()
	got := program.Run(t.Context(), "recipe", "test", "--all", "--recipes", tree, "-o", "json", "--evidence", filepath.Join(t.TempDir(), "evidence"))
	var r report
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil {
		t.Fatalf("the report is not JSON: %v\n%s%s", err, got.Stdout, got.Stderr)
	}
	out := map[string]string{}
	for _, res := range r.Recipes {
		text := res.Verdict
		if len(res.Findings) > 0 {
			text += fmt.Sprintf(": %s: %s", res.Findings[0].Suspect, res.Findings[0].Message)
		}
		if res.Verdict == "unobserved" { // nothing is known of it, in particular not that it differs
			t.Errorf("%s could not be seen: %s", res.Recipe, res.Reason)
			continue
		}
		out[res.Recipe] = text
	}
	if len(out) <= 60 {
		t.Fatalf("%d recipes were tested: %s", len(out), got.Stderr)
	}
	return out
}

// affected are the recipes that are selected for the files on disk; generic ones too,
// as far as the change affects them.
func affected(t *testing.T, tree string) map[string]bool {
	t.Helper()
	got := program.Run(t.Context(), "recipe", "plan", "--base", "HEAD", "--head", "worktree", "--recipes", tree, "-o", "json")
	var p struct {
		Recipes []struct {
			Recipe  string
			Reasons []struct{ Via string }
		}
	}
	if err := json.Unmarshal([]byte(got.Stdout), &p); err != nil || got.Code != 0 {
		t.Fatalf("recipe plan: %v\n%s%s", err, got.Stdout, got.Stderr)
	}
	out := map[string]bool{}
	for _, s := range p.Recipes {
		for _, r := range s.Reasons {
			if r.Via != "generic" {
				out[s.Recipe] = true
			}
		}
	}
	return out
}

// repository is one with our tree in it, committed.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "recipes"), os.DirFS(filepath.Join("..", "..", "..", "recipes"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q -b main", "add .", "commit -q -m tree"} {
		git(t, dir, strings.Fields(args)...)
	}
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@localhost"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
