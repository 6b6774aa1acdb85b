package compare_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/gittest"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

// A plan among 10,000 overlays, git included, but for the start of the program and
// the classes: a leaf that changed, and the root.
func BenchmarkPlanMany(b *testing.B) {
	r := gittest.New(b)
	if err := os.CopyFS(filepath.Join(r.Dir, "recipes"), recipetest.Generate(10_000, 1)); err != nil {
		b.Fatal(err)
	}
	base := r.Commit("tree", nil)
	for name, file := range map[string]string{
		"leaf": "recipes/overlays/gb200-cloud039-ubuntu-inference-kubeflow.yaml", "root": "recipes/overlays/base.yaml",
		"values": "recipes/components/component-03/values.yaml", "registry": "recipes/registry.yaml",
	} {
		r.Git("checkout", "-q", "-B", name, base)
		data, err := os.ReadFile(filepath.Join(r.Dir, file))
		if err != nil {
			b.Fatal(err)
		}
		text := map[string]string{
			"leaf": "    - {name: component-11, version: 9.9.9}\n", "root": "  validation: {readiness: {timeout: 3m}}\n", "values": "more: 1\n",
			"registry": "  - {name: more, helm: {defaultChart: x}}\n",
		}[name]
		r.Commit(name, map[string]string{file: string(data) + text})
	}
	for _, packed := range []string{"loose", "packed"} {
		if packed == "packed" {
			r.Git("gc", "-q")
		}
		for _, branch := range []string{"leaf", "values", "registry", "root"} {
			b.Run(packed+"/"+branch, func(b *testing.B) {
				for b.Loop() {
					repo, dir, err := compare.Locate(b.Context(), filepath.Join(r.Dir, "recipes"))
					if err != nil {
						b.Fatal(err)
					}
					in, err := compare.Run(b.Context(), compare.Options{Repo: repo, Base: base, Head: branch, Tree: dir})
					if err != nil {
						b.Fatal(err)
					}
					in.Event = impact.PullRequest
					p, err := impact.Make(b.Context(), in)
					if err != nil || p.Everything != "" || p.Total != 10_000 {
						b.Fatal(err, p.Reason)
					}
				}
			})
		}
	}
}
