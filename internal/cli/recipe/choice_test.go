package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact/gittest"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

// recipeRepo is a repository with the small tree, committed.
func recipeRepo(t *testing.T) *gittest.Repo {
	t.Helper()
	repo := gittest.New(t)
	if err := os.CopyFS(filepath.Join(repo.Dir, "recipes"), recipetest.Small()); err != nil {
		t.Fatal(err)
	}
	repo.Git("add", ".")
	repo.Git("commit", "-q", "-m", "tree")
	return repo
}

// editEKS changes the recipes for EKS on disk.
func editEKS(t *testing.T, repo *gittest.Repo) {
	t.Helper()
	file := filepath.Join(repo.Dir, "recipes", "overlays", "eks.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), ">= 1.32", ">= 1.33", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheSelectedTreeIsTheTestedTree(t *testing.T) {
	t.Parallel()
	repo := recipeRepo(t)
	for line, want := range map[string]string{
		"test --tier 2 --base HEAD":                                                "--tier 2 needs --recipes",
		"test --tier 2 --base HEAD --head HEAD --recipes @/recipes":                "unknown flag: --head",
		"test --tier 2 --base HEAD --recipes @/recipes --shards 2":                 "the changes affect no recipe",
		"test --tier 2 --base HEAD --recipes @/recipes --record @/results -o json": "the changes affect no recipe",
	} {
		out, stderr, code := recipeRun(t, repo.Dir, line)
		if code == cmdutil.ExitPassed || !strings.Contains(out+stderr, want) {
			t.Errorf("%s: exit %d: %s%s, want %q", line, code, out, stderr, want)
		}
	}
}

func TestAPlanOfAnotherTreeIsRefused(t *testing.T) {
	t.Parallel()
	repo := recipeRepo(t)
	const plan = " --plan @/plan.json --part tier3-1-of-1 --evidence @/evidence"
	if out, stderr, code := recipeRun(t, repo.Dir, "plan --event push --head HEAD --save @/plan.json"+smallTree); code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	editEKS(t, repo)
	for line, want := range map[string]string{
		"test" + plan + smallTree: "differ from the plan",
		"test" + plan:             "differ from the plan", // the tree that ships
	} {
		out, stderr, code := recipeRun(t, repo.Dir, line)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s, want %q", line, code, out, stderr, want)
		}
	}
}

func TestDispatchSelectsTheNamedRecipes(t *testing.T) {
	t.Parallel()
	repo := recipeRepo(t)
	out, stderr, code := recipeRun(t, repo.Dir, "plan --event dispatch eks-training"+smallTree)
	if code != cmdutil.ExitPassed || !strings.Contains(out, "1 of 7 recipes: 1 named") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
