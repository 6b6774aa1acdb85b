package defects_test

import (
	"io/fs"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/recipes"
)

// source makes cases of a tree, whatever lint says of it.
func source(files fs.FS) *schedule.Source {
	loaded, _ := tree.Load(files, tree.Options{Label: label})
	s, _ := schedule.Open(loaded)
	return s
}

func caseOf(t *testing.T, s *schedule.Source, name string) schedule.Case {
	t.Helper()
	c, err := s.Case(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A defect changes only the scenarios that use the edited file: another recipe of the same
// class still passes with the same scenario; the scenario of the affected recipe differs.
func TestSpares(t *testing.T) {
	t.Parallel()
	whole := source(recipetest.Copy(recipes.FS))
	for _, d := range all(t) {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			files, _, err := d.apply()
			if err != nil {
				t.Fatal(err)
			}
			edited := source(files)
			if d.Spares != "" {
				same(t, caseOf(t, whole, d.Spares), caseOf(t, edited, d.Spares))
			}
			if d.Test != nil {
				before, after := caseOf(t, whole, d.Test.Recipe), caseOf(t, edited, d.Test.Recipe)
				if before.Fingerprint == "" || before.Fingerprint == after.Fingerprint {
					t.Errorf("%s is to the scheduler what it was before: %v", d.Test.Recipe, before.Problems)
				}
			}
		})
	}
}

func same(t *testing.T, before, after schedule.Case) {
	t.Helper()
	if before.Fingerprint == "" || before.Fingerprint != after.Fingerprint {
		t.Errorf("%s is touched: %.12s before, %.12s after; %v %v", before.Recipe, before.Fingerprint, after.Fingerprint, before.Problems, after.Problems)
	}
}
