package defects_test

import (
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

const label = "recipes"

func lintOf(files fstest.MapFS) lint.Report {
	return lint.Run(tree.Load(files, tree.Options{Label: label}))
}

// Without a defect nothing is said: what is said of an edited tree is of the defect.
func TestLintOfTheTree(t *testing.T) {
	t.Parallel()
	for _, p := range lintOf(recipetest.Copy(recipes.FS)).Problems {
		t.Error(p)
	}
}

// Lint says all that is expected of a defect, at its place, and nothing else.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, d := range all(t) {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			files, changes, err := d.apply()
			if err != nil {
				t.Fatal(err)
			}
			for _, complaint := range d.hold(lintOf(files).Problems, files, changes) {
				t.Error(complaint)
			}
		})
	}
}
