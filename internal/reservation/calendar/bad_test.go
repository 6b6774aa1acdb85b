package calendar_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestWrongFiles reads every file of testdata/bad; beside each stands what is
// said of it, and together they break every rule of a file.
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
		f, err := calendar.Parse(filepath.Base(file), data)
		list, ok := errors.AsType[problem.List](err)
		if !ok || f != nil {
			t.Errorf("%s is taken for right: %+v, %v", file, f, err)
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
	ofAYear := []string{"margin", "meet", "not-this-year", "time-jumped-over", "time-shown-twice"} // see TestCheck
	for _, rule := range calendar.Rules() {
		if !broken[rule.Name] && !slices.Contains(ofAYear, rule.Name) {
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
