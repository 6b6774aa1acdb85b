package matrix_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestWrongFiles reads every file of testdata/bad; beside each stands what is said of it,
// and together they break every rule.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no wrong files: %v", err)
	}
	broken := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := matrix.Parse(filepath.Base(file), data)
		list, ok := errors.AsType[problem.List](err)
		if !ok || c != nil {
			t.Errorf("%s is taken for right: %+v, %v", file, c, err)
			continue
		}
		for _, p := range list {
			broken[p.Rule] = true
			if p.Line == 0 && len(data) > 0 || p.Remedy == "" {
				t.Errorf("a place or a remedy is missing: %s", p)
			}
		}
		golden(t, strings.TrimSuffix(file, ".yaml")+".golden", list.Error()+"\n")
	}
	for _, rule := range matrix.Rules() {
		if !broken[rule.Name] {
			t.Errorf("no wrong file breaks rule %s", rule.Name)
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", path, diff)
	}
}

// FuzzParse: nothing makes it panic, and of what it takes a night can be made.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, example) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "v0.18.0\nv0.18.1\nmain")
	}
	f.Fuzz(func(t *testing.T, data []byte, tags string) {
		c, err := matrix.Parse("f", data)
		if err != nil {
			return
		}
		if c.Work() <= 0 || c.Teardown <= 0 {
			t.Fatalf("nothing is left of %s when %s are kept", c.CellLimit, c.Teardown)
		}
		versions, err := matrix.Versions(c, strings.Split(tags, "\n"))
		if err == nil && (len(versions) == 0 || len(versions) > c.Previous+1) {
			t.Fatalf("%+v has %v", c, versions)
		}
	})
}
