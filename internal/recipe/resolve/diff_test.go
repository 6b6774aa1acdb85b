package resolve_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	a := must(t, loaded, "service=eks,intent=training", resolve.Options{})
	b := must(t, loaded, "service=aks,accelerator=a100,intent=inference", resolve.Options{})
	changes, err := resolve.Diff(a, b)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/diff.json", encode(t, changes))
	if changes, err = resolve.Diff(a, must(t, loaded, "service=eks,intent=training", resolve.Options{})); err != nil || len(changes) > 0 {
		t.Errorf("a recipe differs from itself: %v, %v", changes, err)
	}
}

// The digest is of what a recipe comes to, not of what it was asked for with.
func TestDigest(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	digest := func(q string, o resolve.Options) string {
		d, err := must(t, loaded, q, o).Digest()
		if err != nil || len(d) != 64 {
			t.Fatal(d, err)
		}
		return d
	}
	if digest("service=eks", resolve.Options{}) != digest("service=EKS", resolve.Options{Explain: true}) {
		t.Error("one recipe has two digests")
	}
	if digest("service=aks", resolve.Options{}) == digest("service=aks", resolve.Options{Profile: "gpuStack=operator-managed"}) {
		t.Error("two profiles have one digest")
	}
}
