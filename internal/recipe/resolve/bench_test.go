package resolve_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// The time to load 10,000 overlays and resolve each with its inputs: this is the cost of
// recipe list, lint and plan at that size.
func BenchmarkLoadMany(b *testing.B) {
	fsys := recipetest.Generate(many, 1)
	for b.Loop() {
		if _, problems := tree.Load(fsys, tree.Options{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkLoadManyCached(b *testing.B) {
	fsys := recipetest.Generate(many, 1)
	cache := &tree.Cache{}
	if _, problems := tree.Load(fsys, tree.Options{Cache: cache}); len(problems) > 0 {
		b.Fatal(problems)
	}
	for b.Loop() {
		if _, problems := tree.Load(fsys, tree.Options{Cache: cache}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkResolveMany(b *testing.B) {
	loaded := load(b, recipetest.Generate(many, 1), tree.Options{})
	recipes := loaded.Recipes()
	for b.Loop() {
		for _, o := range recipes {
			r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if len(r.Inputs()) == 0 {
				b.Fatal("a recipe of nothing")
			}
		}
	}
	b.ReportMetric(float64(len(recipes)*b.N)/b.Elapsed().Seconds(), "recipes/s")
}

func BenchmarkResolveOne(b *testing.B) {
	loaded := load(b, recipetest.Small(), tree.Options{})
	q := query(b, leaf)
	for b.Loop() {
		if _, err := resolve.Resolve(loaded, q, resolve.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
