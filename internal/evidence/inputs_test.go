package evidence

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, err := readInputs(dir); err != nil || got != nil {
		t.Errorf("of a run without any: %v, %v", got, err)
	}
	if err := writeInputs(dir, map[string][]byte{"a.json": []byte("1"), "b": nil}); err != nil {
		t.Fatal(err)
	}
	got, err := readInputs(dir)
	if err != nil || len(got) != 2 || string(got["a.json"]) != "1" {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"../x", "/x", "a/b", "..", ".", ""} {
		dir := t.TempDir()
		if err := writeInputs(dir, map[string][]byte{name: nil}); err == nil {
			t.Errorf("%q is taken", name)
		}
		if _, err := os.Stat(filepath.Join(dir, "..", "x")); err == nil {
			t.Errorf("%q was written outside the run", name)
		}
	}
}
