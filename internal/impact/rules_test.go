package impact_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

// A change that cannot be judged selects every recipe, and each recipe has that reason, also
// recipes without another reason.
func TestUnjudgedChangeSelectsEverything(t *testing.T) {
	t.Parallel()
	small := recipetest.Small()
	broken := recipetest.Edit(small, map[string]string{"overlays/h100-any.yaml": "["})
	for name, tt := range map[string]struct {
		edit func(in *impact.Input)
		want string
		// unusable: the tested tree is invalid.
		unusable bool
	}{
		"a shallow clone":      {func(in *impact.Input) { in.Incomparable = "merge base not found" }, "merge base not found", false},
		"no tree before":       {func(in *impact.Input) { in.Base.FS = nil }, "no recipe tree at", false},
		"a broken tree before": {func(in *impact.Input) { in.Base.FS = broken }, "before the change is invalid", false},
		"a broken tree":        {func(in *impact.Input) { in.Head.FS = broken }, "the recipe tree is invalid", true},
		"a file of no known use": {func(in *impact.Input) {
			in.Changes = []git.Change{{Path: in.Tree + "/notes.txt", Kind: git.Added}}
		}, "its effect is unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := pullRequest(small, small)
			tt.edit(&in)
			p := plan(t, in)
			if len(p.Recipes) != 7 || p.NotSelected != 0 || !strings.Contains(p.Everything, tt.want) {
				t.Errorf("%d recipes, %d left out, everything: %q", len(p.Recipes), p.NotSelected, p.Everything)
			}
			for _, s := range p.Recipes {
				if !slices.ContainsFunc(s.Reasons, func(r impact.Reason) bool { return r.Via == impact.ViaEverything && r.Text == p.Everything }) {
					t.Errorf("%s is selected for %v", s.Recipe, s.Reasons)
				}
				isBroken := slices.ContainsFunc(s.Reasons, func(r impact.Reason) bool {
					return r.Via == impact.ViaBroken && strings.Contains(r.Text, "h100-any.yaml")
				})
				if isBroken != tt.unusable || (s.Digest == "") != tt.unusable {
					t.Errorf("%s has digest %q and reasons %v", s.Recipe, s.Digest, s.Reasons)
				}
			}
			if s, found := p.Find("no-such-recipe"); found {
				t.Errorf("a recipe that is not in the plan is found: %+v", s)
			}
		})
	}
}

// A pattern without matches would silently drop files from the harness.
func TestAPatternWithoutMatchesIsRefused(t *testing.T) {
	t.Parallel()
	for pattern, good := range map[string]bool{
		"**/*.go": true, "go.mod": true, "a/[bc]/d": true, "": false, "/go.mod": false, "/": false, "a/[": false, "[/b": false, "a/\\": false,
	} {
		if err := impact.Glob(pattern).Check(); (err == nil) != good {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// If the tested tree is in another directory than recipes/, the shipped tree counts as part of
// the harness.
func TestShippedTreeIsHarnessOfOtherTrees(t *testing.T) {
	t.Parallel()
	const shipped, code = "recipes/nodes/eks/x.yaml", "internal/impact/plan.go"
	for dir, want := range map[string]bool{"recipes": false, "other/recipes": true} {
		globs := impact.OwnHarness(dir)
		if impact.Matches(globs, shipped) != want || !impact.Matches(globs, code) || !impact.Matches(globs, "go.sum") || impact.Matches(globs, "docs/x.md") {
			t.Errorf("the harness of a tree at %s is %v", dir, globs)
		}
	}
}

// A plan that could not be written is an error: the next job would read an old one.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	p := plan(t, pullRequest(recipetest.Small(), recipetest.Small()))
	if err := p.Save(filepath.Join(t.TempDir(), "none", "plan.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("saved to a missing directory: %v", err)
	}
}
