package evidence

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/plan"
)

func TestInventoryOfAFinishedRunIsItsManifest(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	if err := os.WriteFile(filepath.Join(dir, AttestationFile), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := Stored(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Inventory(dir)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-stored +counted):\n%s", err, diff)
	}
	edit(t, filepath.Join(dir, siteFile), func([]byte) []byte { return nil })
	got, err = Inventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	if problems := want.Compare(got); len(problems) != 1 || problems[0].File != siteFile || got.Digest == want.Digest {
		t.Errorf("after a change: %s", problems)
	}
}

func TestInventoryRefuses(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	if _, err := Inventory(r.Dir()); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is written: %v", err)
	}
	execute(t, r, plan.Executor{Plan: testPlan()})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := Inventory(r.Dir()); err != nil || len(m.Files) < 10 {
		t.Errorf("interrupted: %d files, %v", len(m.Files), err)
	}
	if err := os.Symlink(siteFile, filepath.Join(r.Dir(), "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Inventory(r.Dir()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with a link: %v", err)
	}
}

func TestTheRecipeIsKept(t *testing.T) {
	t.Parallel()
	s := testStart(passingPlan())
	s.Recipe, s.Header.Recipe = []byte("kind: RecipeResult\n"), "h100-training"
	r, err := Create(t.TempDir(), s, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, r, plan.Executor{Plan: s.Plan})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := Load(r.Dir())
	if err != nil || string(b.Recipe) != string(s.Recipe) || b.Header.Recipe != s.Header.Recipe {
		t.Errorf("recipe %q %q, %v", b.Recipe, b.Header.Recipe, err)
	}
}
