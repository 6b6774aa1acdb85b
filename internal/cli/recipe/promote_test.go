package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/record"
)

// In firstlight's own repository a record counts only if the binary that tested was built
// from the harness of the commit.
func TestAStaleBinaryDoesNotQualifyACommit(t *testing.T) {
	t.Parallel()
	repo := recipeRepo(t)
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(repo.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		repo.Git("add", ".")
		repo.Git("commit", "-q", "-m", name)
	}
	put("go.mod", "module github.com/firstlight/firstlight\n")
	put("limits.go", "package limits\n\nconst limit = 1\n")
	stale := repo.Git("describe", "--always")
	put("limits.go", "package limits\n\nconst limit = 2\n")
	same := repo.Git("describe", "--always")
	put("README.md", "no harness\n")
	ctx := t.Context()
	opened, dir, err := compare.Locate(ctx, filepath.Join(repo.Dir, "recipes"))
	if err != nil {
		t.Fatal(err)
	}
	state, err := compare.Run(ctx, compare.Options{Repo: opened, Tree: dir, NoBase: true})
	if err != nil {
		t.Fatal(err)
	}
	loaded := impact.Load(state.Head, nil)
	measured, err := loaded.Measure(ctx, loaded.Names())
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{
		repo.Git("describe", "--always"): "",
		same:                             "", // only the README differs
		stale:                            "built from another harness",
		stale + "-dirty":                 "source is unknown",
		"unknown":                        "source is unknown",
	} {
		var recipes []record.Recipe
		for _, name := range loaded.Names() {
			recipes = append(recipes, record.Recipe{Recipe: name, Verdict: check.Passed})
		}
		s := record.Start{Tool: tool, Commit: state.Head.Commit, Event: impact.Schedule, Tier: impact.All, Tree: state.Tree, Harness: state.Harness.Digest, Measured: measured}
		records := t.TempDir()
		if _, err := record.Write(records, s.End(time.Unix(100, 0), check.Passed, "", recipes)); err != nil {
			t.Fatal(err)
		}
		out, stderr, code := recipeRun(t, repo.Dir, "promote HEAD --repo @/ --records "+records)
		if want == "" && code != cmdutil.ExitPassed || want != "" && (code != cmdutil.ExitFailed || !strings.Contains(out, want)) {
			t.Errorf("firstlight %s: exit %d, want %q: %s%s", tool, code, want, out, stderr)
		}
		if strings.Count(out, "runtime, on hardware:") != 1 { // it was printed again, without rows
			t.Errorf("the heading of a table without records: %s", out)
		}
	}
}
