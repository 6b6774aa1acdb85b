package resolve_test

import (
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/suite"
)

// Loading 10,000 overlays and resolving all of them stays a matter of seconds:
// it takes 1 s and 1.2 s on two cores; the limit leaves room for a machine that
// does something else too.
func TestManyOverlays(t *testing.T) {
	suite.Require(t, suite.All)
	t.Parallel()
	const limit = 60 * time.Second
	fsys := recipetest.Generate(many, 1)
	began := time.Now()
	loaded := load(t, fsys, tree.Options{})
	loading := time.Since(began)
	for _, o := range loaded.Recipes() {
		r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Inputs()) == 0 {
			t.Fatalf("%s is made of nothing", o.Name)
		}
	}
	took := time.Since(began)
	t.Logf("loaded %d overlays in %s, resolved %d recipes in %s", len(loaded.Overlays), loading.Round(time.Millisecond), len(loaded.Recipes()), (took - loading).Round(time.Millisecond))
	if took > limit {
		t.Errorf("it took %s, the limit is %s", took, limit)
	}
}
