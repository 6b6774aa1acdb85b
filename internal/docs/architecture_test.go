package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pathSpan = regexp.MustCompile("`((?:cmd|internal|components|recipes|examples|images|bench|docs)(?:/[A-Za-z0-9_.*-]+)*)`")

// The paths that the architecture page names exist, and every package below internal is on
// its map.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	raw, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	named := map[string]bool{}
	for _, m := range pathSpan.FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
		if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil || len(found) == 0 {
			t.Errorf("docs/architecture.md names %s, which does not exist", m[1])
		}
	}
	if len(named) < 40 {
		t.Errorf("only %d paths found in docs/architecture.md", len(named))
	}
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(text, "## The map")
	table, _, _ = strings.Cut(table, "## The arrows")
	for _, e := range entries {
		if e.IsDir() && !strings.Contains(table, "`internal/"+e.Name()+"`") {
			t.Errorf("internal/%s is not on the map of docs/architecture.md", e.Name())
		}
	}
}
