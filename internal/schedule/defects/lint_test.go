package defects_test

import (
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/recipes"
)

const label = "recipes"

func lintOf(files fstest.MapFS) lint.Report {
	return lint.Run(tree.Load(files, tree.Options{Label: label}))
}

// lint reports nothing for the tree without a defect, so each problem of an edited tree is
// caused by the defect.
func TestLintOfTheTree(t *testing.T) {
	t.Parallel()
	for _, p := range lintOf(recipetest.Copy(recipes.FS)).Problems {
		t.Error(p)
	}
}

// ofEveryChange: one defect in so many is in make test, all are in make test-all.
const ofEveryChange = 6

// some are the defects that this run has.
func some(defects []defect) []defect {
	if suite.Current() >= suite.All {
		return defects
	}
	var out []defect
	for i := 0; i < len(defects); i += ofEveryChange {
		out = append(out, defects[i])
	}
	return out
}

// Lint says all that is expected of a defect, at its place, and nothing else.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, d := range some(all(t)) {
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
