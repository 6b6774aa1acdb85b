// Package yamlfiletest tests readers of the files that package yamlfile reads: by files that
// are wrong, with what is said of each beside it. It defines the flag -update, which writes
// the goldens anew.
package configtest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/diag"
)

var update = flag.Bool("update", false, "write the goldens anew")

// Invalid reads every NAME.yaml in dir, of which there are least or more. parse has to
// refuse it with a diag.List that is as NAME.golden says, each problem with a place and a
// remedy. Together the files break all of rules, but for those that no file alone can break.
func Invalid[T any](t *testing.T, dir string, least int, parse func(name string, data []byte) (*T, error), rules []diag.Rule, except ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < least {
		t.Fatalf("there are %d wrong files, want %d: %v", len(files), least, err)
	}
	broken := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parse(name+".yaml", data)
			list, ok := errors.AsType[diag.List](err)
			if !ok || got != nil {
				t.Fatalf("it is taken for right, or the error is no list of problems: %+v, %v", got, err)
			}
			for _, p := range list {
				broken[p.Rule] = true
				if p.Line == 0 && text(data) || p.Remedy == "" {
					t.Errorf("a place or a remedy is missing: %s", p)
				}
			}
			Golden(t, strings.TrimSuffix(file, ".yaml")+".golden", list.Error()+"\n")
		})
	}
	for _, rule := range rules {
		if !broken[rule.Name] && !slices.Contains(except, rule.Name) {
			t.Errorf("no wrong file breaks rule %s", rule.Name)
		}
	}
}

// text: it is one, and there is a line in it that something can be said of.
func text(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return utf8.Valid(data)
		}
	}
	return false
}

// Golden holds what was got against a file.
func Golden(t *testing.T, path, got string) {
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
