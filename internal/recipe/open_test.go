package recipe_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func TestOpenADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "recipes"), recipetest.Small()); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(dir, "recipes")} {
		loaded, problems, err := recipe.Open(at, tree.Options{})
		if err != nil || problems.Err() != nil {
			t.Fatal(err, problems)
		}
		if len(loaded.Overlays) != 8 {
			t.Errorf("%s has %d overlays", at, len(loaded.Overlays))
		}
	}
	for _, at := range []string{filepath.Join(dir, "recipes", "components"), filepath.Join(dir, "nothing"), filepath.Join(dir, "recipes", "registry.yaml")} {
		if _, _, err := recipe.Open(at, tree.Options{}); err == nil {
			t.Errorf("%s is a recipe tree", at)
		}
	}
}

func TestLabelIsRelativeToWhereTheProgramRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "recipes"), recipetest.Small()); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for at, want := range map[string]string{".": "recipes", "recipes": "recipes", filepath.Join(dir, "recipes"): "recipes", "./recipes/": "recipes"} {
		loaded, _, err := recipe.Open(at, tree.Options{})
		if err != nil || loaded.Label != want {
			t.Errorf("%s is called %v, %v", at, loaded, err)
		}
	}
}
