// Package configtest tests parsers of configuration files with invalid files and the problems
// expected of each.
package configtest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/golden"
)

// Invalid parses every NAME.yaml in dir, at least least files. parse must return the diag.List in
// NAME.golden, each problem with a position and a remedy. Together the files must break all rules
// except those listed.
func Invalid[T any](t *testing.T, dir string, least int, parse func(name string, data []byte) (*T, error), rules []diag.Rule, except ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < least {
		t.Fatalf("%d invalid files, want at least %d: %v", len(files), least, err)
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
				t.Fatalf("accepted, or the error is not a diag.List: %+v, %v", got, err)
			}
			for _, p := range list {
				broken[p.Rule] = true
				if p.Line == 0 && text(data) || p.Remedy == "" {
					t.Errorf("no position or remedy: %s", p)
				}
			}
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".golden", list.Error()+"\n")
		})
	}
	for _, rule := range rules {
		if !broken[rule.Name] && !slices.Contains(except, rule.Name) {
			t.Errorf("no invalid file breaks rule %s", rule.Name)
		}
	}
}

// text reports whether data is text with at least one line of content.
func text(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return utf8.Valid(data)
		}
	}
	return false
}
