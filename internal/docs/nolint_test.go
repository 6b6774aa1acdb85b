package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var nolint = regexp.MustCompile(`//nolint:([a-z0-9,]+)`)

// notEnabled returns the linters that a //nolint of a Go file names, and that are not enabled.
func notEnabled(source string, enabled []string) []string {
	var out []string
	for _, m := range nolint.FindAllStringSubmatch(source, -1) {
		for linter := range strings.SplitSeq(m[1], ",") {
			if !slices.Contains(enabled, linter) {
				out = append(out, linter)
			}
		}
	}
	return out
}

// Every //nolint names linters that .golangci.yaml enables: nolintlint does not report the others.
func TestNolint(t *testing.T) {
	t.Parallel()
	var config struct {
		Linters struct {
			Enable []string `json:"enable"`
		} `json:"linters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(root, ".golangci.yaml"))), &config); err != nil {
		t.Fatal(err)
	}
	enabled := config.Linters.Enable
	if got := notEnabled("a() //nolint:gosec,mnd // KiB\nb() //nolint:nilnil // none", enabled); !slices.Equal(got, []string{"mnd", "nilnil"}) {
		t.Errorf("found %v, want mnd and nilnil", got)
	}
	files, found := 0, 0
	for _, top := range []string{"cmd", "internal", "bench", "images", "recipes", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || d.Name() == "nolint_test.go" {
				return err
			}
			source := read(t, name)
			files, found = files+1, found+len(nolint.FindAllString(source, -1))
			for _, linter := range notEnabled(source, enabled) {
				t.Errorf("%s: //nolint:%s: this linter is not enabled", name, linter)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 1000 || found < 50 {
		t.Errorf("only %d files with %d //nolint were read", files, found)
	}
}
