package impact_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Every recipe of the generated tree that the tests of this package change can be tested.
func TestWholeCanBeTested(t *testing.T) {
	t.Parallel()
	loaded, problems := tree.Load(recipetest.Whole(120, 1), tree.Options{Label: "recipes"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	source, problems := schedule.Open(loaded)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	fingerprints := map[string]bool{}
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil || len(c.Problems) > 0 {
			t.Fatalf("%s: %v\n%v", name, err, c.Problems)
		}
		fingerprints[c.Fingerprint] = true
	}
	if n := len(source.Names()); n != 120 || len(fingerprints) < n/4 {
		t.Errorf("%d recipes have %d fingerprints", n, len(fingerprints))
	}
}
