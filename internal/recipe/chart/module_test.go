package chart_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/chart"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Modules are found in the cache under the names that it gives them, or fetched.
func TestModules(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cache, fetched := t.TempDir(), t.TempDir()
	if err := os.CopyFS(filepath.Join(cache, "example.com/!acme/!shop@v1.2.3/deploy"), os.DirFS(s.chart)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(fetched, "deploy"), os.DirFS(s.chart)); err != nil {
		t.Fatal(err)
	}
	answers := func(text string, err error) func(context.Context, string) ([]byte, error) {
		return func(_ context.Context, module string) ([]byte, error) {
			return []byte(strings.ReplaceAll(strings.ReplaceAll(text, "DIR", fetched), "MODULE", module)), err
		}
	}
	in := func(module, path string) model.FootprintChart {
		return model.FootprintChart{Name: "shop", Version: "1.2.3", Module: module, Path: path}
	}
	for name, tt := range map[string]struct {
		modules chart.Modules
		want    model.FootprintChart
		err     string
	}{
		"cache":        {chart.Modules{Cache: cache}, in("example.com/Acme/Shop", "deploy"), ""},
		"no command":   {chart.Modules{Cache: cache}, in("example.com/other", "deploy"), "the module is not in the module cache, and there is no go command to download it"},
		"fetched":      {chart.Modules{Cache: cache, Download: answers(`{"Dir":"DIR"}`, nil)}, in("example.com/other", "deploy"), ""},
		"refused":      {chart.Modules{Download: answers(`{"Error":"MODULE: 403 Forbidden"}`, errors.New("exit status 1"))}, in("example.com/other", "deploy"), "example.com/other@v1.2.3: 403 Forbidden"},
		"command":      {chart.Modules{Download: answers("", errors.New("exit status 2"))}, in("example.com/other", "deploy"), "go mod download: exit status 2"},
		"no JSON":      {chart.Modules{Download: answers("hello", nil)}, in("example.com/other", "deploy"), "parse output of go mod download"},
		"no directory": {chart.Modules{Download: answers("{}", nil)}, in("example.com/other", "deploy"), "go mod download printed no directory"},
		"no path":      {chart.Modules{Cache: cache}, in("example.com/Acme/Shop", "../deploy"), "must be inside the module"},
		"no chart":     {chart.Modules{Cache: cache}, in("example.com/Acme/Shop", "other"), "example.com/Acme/Shop@v1.2.3/other: not found"},
		"another version": {
			chart.Modules{Cache: cache},
			model.FootprintChart{Name: "shop", Version: "1.2.5", Module: "example.com/Acme/Shop", ModuleVersion: "v1.2.3", Path: "deploy"},
			"found chart version 1.2.3, want 1.2.5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := tt.modules.Get(t.Context(), &tt.want)
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err == "" && !strings.HasPrefix(c.From, "module "+tt.want.Module+"@v1.2.3/"):
				t.Error(c.From)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("%v does not say %q", err, tt.err)
			}
		})
	}
}

// The machine's own modules: those that the go command names.
func TestGoModules(t *testing.T) {
	t.Parallel()
	m := chart.GoModules(t.Context())
	if m.Cache == "" || m.Download == nil {
		t.Errorf("%q, %t", m.Cache, m.Download == nil)
	}
}

// A source that the footprint does not declare is not tried.
func TestUndeclaredSource(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.edit(shopFile, ", module: example.com/shop, path: deploy/charts/shop}", "}")
	r := s.run(chart.Options{Sources: chart.Sources{chart.Modules{}}})
	s.expect(r, chart.Unavailable, "")
	if len(r.Attempts) != 1 || r.Attempts[0].Source != "none" {
		t.Errorf("%+v", r.Attempts)
	}
}
