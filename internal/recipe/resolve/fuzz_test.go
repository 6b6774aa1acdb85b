package resolve_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// For any tree that loads, resolution returns a recipe or an error, with and without Compat,
// and does not panic.
func FuzzResolve(f *testing.F) {
	for path, file := range recipetest.Small() {
		if len(path) > 9 && path[:9] == "overlays/" {
			f.Add(string(file.Data))
		}
	}
	f.Add("kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: x}\nspec: {criteria: {}, componentRefs: [{name: \"\\0\", overrides: {enabled: false, \"\": {}}, dependencyRefs: [gpu-operator]}]}")
	f.Fuzz(func(t *testing.T, text string) {
		fsys := recipetest.Edit(recipetest.Small(), map[string]string{"overlays/z.yaml": text + "\n"})
		for _, compat := range []bool{false, true} {
			loaded, problems := tree.Load(fsys, tree.Options{Legacy: compat})
			if problems.Err() != nil {
				continue
			}
			for _, o := range loaded.Recipes() {
				opts := resolve.Options{Compat: compat, Explain: true}
				if compat && o.Criteria.CheckLegacy() != nil {
					continue // aicr does not support it
				}
				r, err := resolve.Resolve(loaded, o.Criteria, opts)
				if _, expected := errors.AsType[diag.List](err); err != nil && !expected {
					t.Fatalf("%s: %v", o.Name, err)
				}
				if err != nil {
					continue
				}
				if _, err := r.Document(); err != nil {
					continue // a missing values file, which aicr reads at a later step
				}
				again, err := resolve.Resolve(loaded, o.Criteria, opts)
				if err != nil || !bytes.Equal(all(t, r), all(t, again)) {
					t.Errorf("%s resolves differently the second time: %v", o.Name, err)
				}
				_ = r.Ties() // that it does not panic
			}
		}
	})
}

// Random edits of a larger tree: a recipe that comes out different has inputs
// that say so, and most recipes have not.
func TestInputsOverRandomEdits(t *testing.T) {
	t.Parallel()
	fsys := recipetest.Generate(80, 5)
	before := load(t, fsys, tree.Options{})
	paths := slices.Clone(before.Paths)
	r := rand.New(rand.NewPCG(1, 2))
	changedInputs, different := 0, 0
	const edits = 15
	for range edits {
		path := paths[r.IntN(len(paths))]
		text := bytes.Replace(fsys[path].Data, []byte("replicas: "), []byte("replicas: 1"), 1)
		text = bytes.Replace(text, []byte("defaultVersion: 1.3"), []byte("defaultVersion: 7.3"), 1)
		after := load(t, recipetest.Edit(fsys, map[string]string{path: string(text)}), tree.Options{})
		for _, o := range before.Recipes() {
			a, b := must(t, before, o.Criteria.String(), resolve.Options{}), must(t, after, o.Criteria.String(), resolve.Options{})
			digestA, errA := a.Digest()
			digestB, errB := b.Digest()
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			changed := !slices.Equal(a.Inputs(), b.Inputs())
			if digestA != digestB {
				different++
				if !changed {
					t.Errorf("after an edit of %s %s differs, but its inputs are equal", path, o.Name)
				}
			}
			if changed {
				changedInputs++
			}
		}
	}
	t.Logf("%d edits of %d recipes: %d recipes differ, the inputs of %d differ", edits, len(before.Recipes()), different, changedInputs)
	if different == 0 {
		t.Error("no edit changed anything")
	}
}
