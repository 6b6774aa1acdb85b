package registry_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/reservation/registry"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestWrongFiles reads every file of testdata/bad; beside each stands what is said of it.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("only %d wrong files: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := registry.Parse(name+".yaml", data)
			if err == nil || r != nil {
				t.Fatalf("it is taken for right: %+v", r)
			}
			list, ok := errors.AsType[problem.List](err)
			if !ok {
				t.Fatalf("the error is no list of problems: %v", err)
			}
			for _, p := range list {
				if p.Line == 0 && len(data) > 30 || p.Remedy == "" {
					t.Errorf("a place or a remedy is missing: %s", p)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", list.Error()+"\n")
		})
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
