package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/recipe/chart"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shop is the tree of testdata and its chart, both copied to be written to.
type shop struct {
	t     *testing.T
	dir   string
	chart string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	dir := t.TempDir()
	s := &shop{t: t, dir: filepath.Join(dir, "recipes"), chart: filepath.Join(dir, "chart")}
	for from, to := range map[string]string{"testdata/tree": s.dir, "testdata/charts/shop": s.chart} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *shop) read(file string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *shop) write(file, text string) {
	s.t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.dir, file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// edit replaces the one occurrence of a text in a file of the tree, or of the chart.
func (s *shop) edit(file, old, text string) {
	s.t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.dir, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if n := strings.Count(string(data), old); n != 1 {
		s.t.Fatalf("%s has %q %d times", file, old, n)
	}
	s.write(file, strings.Replace(string(data), old, text, 1))
}

// run updates, or checks, the footprint shop.
func (s *shop) run(o chart.Options) chart.Result {
	s.t.Helper()
	loaded, problems := tree.Load(os.DirFS(s.dir), tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		s.t.Fatal(err)
	}
	if o.Names == nil {
		o.Names = []string{"shop"}
	}
	if o.Sources == nil {
		o.Sources = chart.Sources{chart.File{Path: s.chart}}
	}
	o.Dir = s.dir
	results, err := chart.Update(s.t.Context(), loaded, o)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(results) != 1 {
		s.t.Fatalf("%d results", len(results))
	}
	return results[0]
}

func (s *shop) expect(r chart.Result, want chart.Outcome, reason string) {
	s.t.Helper()
	if r.Outcome != want || !strings.Contains(r.Reason, reason) {
		s.t.Errorf("%s: %s; want %s: %s\nattempts %v\ndrift %v", r.Outcome, r.Reason, want, reason, r.Attempts, r.Drift)
	}
}
