package compare_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/impact/gittest"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

// repository is one with a recipe tree in recipes/, committed on main.
func repository(tb testing.TB, tree fs.FS) *gittest.Repo {
	tb.Helper()
	r := gittest.New(tb)
	if err := os.CopyFS(filepath.Join(r.Dir, "recipes"), tree); err != nil {
		tb.Fatal(err)
	}
	r.Commit("tree", nil)
	return r
}

// run makes the plan of a pull request.
func run(t *testing.T, r *gittest.Repo, o compare.Options) *impact.Plan {
	t.Helper()
	in := read(t, r, o)
	in.Event = impact.PullRequest
	p, err := impact.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, r *gittest.Repo, o compare.Options) impact.Input {
	t.Helper()
	dir := "recipes"
	if o.Tree != "" {
		dir = o.Tree
	}
	repo, rest, err := compare.Locate(t.Context(), filepath.Join(r.Dir, dir))
	if err != nil {
		t.Fatal(err)
	}
	o.Repo, o.Tree = repo, rest
	in, err := compare.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// affected are the recipes that are selected because of the change.
func affected(p *impact.Plan) string {
	out := map[string]bool{}
	for _, s := range p.Recipes {
		for _, r := range s.Reasons {
			if r.Via != impact.ViaGeneric {
				out[s.Recipe] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(out)), " ")
}

func replace(t *testing.T, r *gittest.Repo, file, old, with string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	r.Write(map[string]string{file: strings.Replace(string(data), old, with, 1)})
}

const (
	leaf     = "h100-eks-ubuntu-training-kubeflow"
	training = "eks-training h100-eks-training " + leaf
	everyone = "a100-aks-inference aks eks eks-training h100-any h100-eks-training " + leaf
	byHPA    = everyone
	overlay  = "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: %}\nspec: "
)

// Changes that path patterns over the diff of two commits select wrongly.
func TestWhatOthersMiss(t *testing.T) {
	t.Parallel()
	named := func(name, spec string) string { return strings.Replace(overlay, "%", name, 1) + spec + "\n" }
	tests := []struct {
		name string
		// do changes the tree, on a branch that left main.
		do   func(t *testing.T, r *gittest.Repo)
		want string
		// via is a reason that has to be given, everything why all are selected.
		via, everything string
		removed         string
	}{
		{
			name: "an overlay that is not an ancestor, and applies by its criteria",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/overlays/monitoring-hpa.yaml", "type: Helm", "version: 9.9.9")
			},
			want: byHPA, via: "criteria: overlays/monitoring-hpa.yaml changed",
		},
		{
			name: "a manifest",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/components/node-tuning/manifests/tuning.yaml", "tuning", "toning")
			},
			want: training, via: "manifest: components/node-tuning/manifests/tuning.yaml changed",
		},
		{
			name: "a health check",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/checks/gpu-operator/health-check.yaml", "gpu-operator", "gpu")
			},
			want: everyone, via: "check: checks/gpu-operator/health-check.yaml changed",
		},
		{
			name: "an entry of the catalogue",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/validators/catalog.yaml", "timeout: 30m", "timeout: 31m")
			},
			want: training, via: "check: validators/catalog.yaml validators/nccl-all-reduce-bw changed",
		},
		{
			name: "a mixin",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/mixins/os-ubuntu.yaml", "24.04", "26.04")
			},
			want: leaf, via: "mixin: mixins/os-ubuntu.yaml changed",
		},
		{
			name: "the registry, of a component that few have",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/registry.yaml", "name: kubeflow-trainer\n", "name: kubeflow-trainer\n    displayName: trainer\n")
			},
			want: leaf, via: "registry: registry.yaml components/kubeflow-trainer changed",
		},
		{
			name: "values that one of several files has",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/components/gpu-operator/values-eks.yaml", "580.95.05", "580.95.06")
			},
			want: "h100-eks-training " + leaf, via: "values: components/gpu-operator/values-eks.yaml changed",
		},
		{
			name: "a name that another begins with",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/overlays/h100-eks-ubuntu-training-kubeflow.yaml", ">= 320", ">= 330")
			},
			want: leaf, via: "itself: overlays/" + leaf + ".yaml changed",
		},
		{
			name: "a new values file, below the values of an overlay",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Write(map[string]string{"recipes/components/network-operator/values.yaml": "a: 1\n"})
			},
			want: "a100-aks-inference aks", via: "values: components/network-operator/values.yaml added",
		},
		{
			name: "an overlay in the base chain",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/overlays/aks/aks.yaml", ">= 1.34", ">= 1.35")
			},
			want: "a100-aks-inference aks", via: "criteria: overlays/aks/aks.yaml changed",
		},
		{
			name: "a new overlay that applies to others",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Write(map[string]string{"recipes/overlays/new.yaml": named("new", "{criteria: {intent: training}, constraints: [{name: a.b.c, value: x}]}")})
			},
			want: training + " new", via: "criteria: overlays/new.yaml added",
		},
		{
			name: "an overlay that is gone, which applied to others",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Remove("recipes/overlays/h100-any.yaml")
			},
			want: "h100-eks-training " + leaf, via: "criteria: overlays/h100-any.yaml removed", removed: "h100-any",
		},
		{
			name: "an overlay in another file",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Git("mv", "recipes/overlays/aks/a100-aks-inference.yaml", "recipes/overlays/a100-aks-inference.yaml")
			},
			want: "a100-aks-inference", via: "itself: overlays/a100-aks-inference.yaml added",
		},
		{
			name: "an overlay with another name",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/overlays/aks/a100-aks-inference.yaml", "name: a100-aks-inference", "name: a100-aks-serving")
			},
			want: "a100-aks-serving", via: "new: overlays/aks/a100-aks-inference.yaml added", removed: "a100-aks-inference",
		},
		{
			name: "a footprint, in a tree that had none of its own",
			do: func(t *testing.T, r *gittest.Repo) {
				if err := os.CopyFS(filepath.Join(r.Dir, "recipes", "footprints"), os.DirFS("../../../recipes/footprints")); err != nil {
					t.Fatal(err)
				}
				replace(t, r, "recipes/footprints/kubeflow-trainer.yaml", "class: system", "class: any")
			},
			want: leaf, via: "footprint: footprints/kubeflow-trainer.yaml rules changed",
		},
		{
			name: "bases that go in a circle",
			do: func(t *testing.T, r *gittest.Repo) {
				replace(t, r, "recipes/overlays/eks.yaml", "spec:", "spec:\n  base: h100-eks-training")
			},
			want: everyone, everything: "the recipe tree is invalid: recipes/overlays/eks.yaml:6:9: error: cycle of spec.base",
		},
		{
			name: "an unknown file in the tree",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Write(map[string]string{"recipes/tools/run.sh": "true\n"})
			},
			want: everyone, everything: "recipes/tools/run.sh was added, and its effect is unknown",
		},
		{
			name: "documentation",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Write(map[string]string{"recipes/README.md": "# x\n", "docs/recipes/x.yaml": "x", "recipes/schemas/x.json": "{}", "recipes2/overlays/x.yaml": "x"})
			},
		},
		{
			name: "the workflows",
			do: func(_ *testing.T, r *gittest.Repo) {
				r.Write(map[string]string{".github/workflows/recipes.yaml": "x", ".github/workflows/other.yaml": "x"})
			},
			want: everyone, via: "harness: .github/workflows/recipes.yaml added",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := repository(t, recipetest.Small())
			r.Git("checkout", "-q", "-b", "branch")
			tt.do(t, r)
			onDisk := run(t, r, compare.Options{Head: compare.Worktree})
			r.Commit("change", nil)
			committed := run(t, r, compare.Options{})
			for where, p := range map[string]*impact.Plan{"committed": committed, "on disk": onDisk} {
				if got := affected(p); got != tt.want {
					t.Errorf("%s: selected are %s\nwant %s (everything: %s)", where, got, tt.want, p.Everything)
				}
				if !strings.HasPrefix(p.Everything, tt.everything) || tt.everything == "" && p.Everything != "" {
					t.Errorf("%s: all are selected because %s", where, p.Everything)
				}
				if got := strings.Join(p.Removed, " "); got != tt.removed {
					t.Errorf("%s: removed are %s, want %s", where, got, tt.removed)
				}
				if tt.via != "" && !reasons(p)[tt.via] {
					t.Errorf("%s: the reason %q is not given, there are %v", where, tt.via, slices.Sorted(maps.Keys(reasons(p))))
				}
			}
			if committed.Harness.Digest != onDisk.Harness.Digest {
				t.Errorf("the harness has digest %s committed, and %s on disk", committed.Harness.Digest, onDisk.Harness.Digest)
			}
		})
	}
}

func reasons(p *impact.Plan) map[string]bool {
	out := map[string]bool{}
	for _, s := range p.Recipes {
		for _, r := range s.Reasons {
			out[r.String()] = true
		}
	}
	return out
}

// The base of the comparison is the merge base, not the tip of main.
func TestMergeBase(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	r.Git("checkout", "-q", "-b", "branch")
	replace(t, r, "recipes/mixins/os-ubuntu.yaml", "24.04", "26.04")
	replace(t, r, "recipes/overlays/aks/aks.yaml", ">= 1.34", ">= 1.35")
	r.Commit("change", nil)
	r.Git("checkout", "-q", "main")
	// main changes what the branch does not, and changes one thing as the branch does.
	replace(t, r, "recipes/overlays/monitoring-hpa.yaml", "type: Helm", "version: 9.9.9")
	replace(t, r, "recipes/overlays/aks/aks.yaml", ">= 1.34", ">= 1.35")
	r.Commit("later commit on main", nil)
	r.Git("checkout", "-q", "branch")
	p := run(t, r, compare.Options{})
	if got := affected(p); got != "a100-aks-inference aks "+leaf {
		t.Errorf("selected are %s (everything: %s)", got, p.Everything)
	}
	if p.Base.Name != "main" || p.Base.Commit != r.Git("merge-base", "main", "branch") {
		t.Errorf("compared with %+v", p.Base)
	}
}

// If the two trees cannot be compared, every recipe is selected and the plan has the reason.
func TestEverything(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(t *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options)
		want string
	}{
		{"an unknown base", func(*testing.T, *gittest.Repo) (r2 *gittest.Repo, o compare.Options) {
			return nil, compare.Options{Base: "origin/nothing"}
		}, "commit to compare with not found: origin/nothing"},
		{"a shallow clone", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			r.Commit("more", map[string]string{"x": "1"})
			shallow := gittest.New(t)
			shallow.Git("fetch", "-q", "--depth", "1", "file://"+r.Dir, "main")
			shallow.Git("checkout", "-q", "-B", "main", "FETCH_HEAD")
			return shallow, compare.Options{}
		}, "the clone is shallow"},
		{"no history in common", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			r.Git("checkout", "-q", "--orphan", "other")
			r.Commit("other", nil)
			return nil, compare.Options{}
		}, "main and the head have no common history"},
		{"branches that were merged crosswise", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			r.Git("checkout", "-q", "-b", "side")
			r.Commit("side", map[string]string{"b": "1"})
			r.Git("checkout", "-q", "main")
			main := r.Commit("main", map[string]string{"c": "1"})
			r.Git("merge", "-q", "--no-ff", "-m", "x", "side")
			r.Git("checkout", "-q", "side")
			r.Git("merge", "-q", "--no-ff", "-m", "x", main)
			return nil, compare.Options{}
		}, "main and the head have 2 merge bases"},
		{"an unusable base", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			r.Commit("broken", map[string]string{"recipes/overlays/eks.yaml": "["})
			r.Git("checkout", "-q", "-b", "repair")
			r.Git("checkout", "-q", "HEAD~1", "--", "recipes")
			r.Commit("repaired", nil)
			return nil, compare.Options{}
		}, "the recipe tree before the change is invalid: recipes/overlays/eks-training.yaml:6:9: error: base of eks-training not found: eks"},
		{"no tree before", func(_ *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			r.Git("checkout", "-q", "-b", "moved")
			r.Git("mv", "recipes", "our-recipes")
			r.Commit("moved", nil)
			return nil, compare.Options{Tree: "our-recipes"}
		}, "no recipe tree at main"},
		{"a lost object", func(t *testing.T, r *gittest.Repo) (*gittest.Repo, compare.Options) {
			id := r.Git("rev-parse", "HEAD:recipes/overlays/eks.yaml")
			r.Git("checkout", "-q", "-b", "branch")
			r.Commit("change", map[string]string{"recipes/overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec: {criteria: {service: eks}}\n"})
			if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
				t.Fatal(err)
			}
			return nil, compare.Options{}
		}, "unexpected output of git"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := repository(t, recipetest.Small())
			other, o := tt.do(t, r)
			if other != nil {
				r = other
			}
			p := run(t, r, o)
			if got := affected(p); got != everyone || !strings.Contains(p.Everything, tt.want) {
				t.Errorf("selected are %s, because %q; want %q", got, p.Everything, tt.want)
			}
			if !strings.Contains(p.Reason, tt.want) {
				t.Errorf("the plan's reason does not say why: %s", p.Reason)
			}
		})
	}
}

// If the head cannot be read, there is an error and not a plan.
func TestNoHead(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	repo, err := git.Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]compare.Options{
		"commit not found":              {Head: "nothing", Tree: "recipes"},
		"no recipe tree x":              {Tree: "x"},
		"no recipe tree y":              {Head: compare.Worktree, Tree: "y"},
		`invalid pattern "/x": must be`: {Tree: "recipes", Harness: []impact.Glob{"/x"}},
		`pattern "a[": syntax error`:    {Tree: "recipes", Harness: []impact.Glob{"a["}},
	} {
		o.Repo = repo
		if _, err := compare.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	if _, _, err := compare.Locate(t.Context(), t.TempDir()); err == nil {
		t.Error("no error for a directory outside of a repository")
	}
}

// The tree of a commit is read from the repository; with --head worktree it is read from
// the working directory.
func TestHead(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	r.Git("checkout", "-q", "-b", "branch")
	replace(t, r, "recipes/mixins/os-ubuntu.yaml", "24.04", "26.04")
	if got := affected(run(t, r, compare.Options{})); got != "" {
		t.Errorf("uncommitted changes select %s", got)
	}
	p := run(t, r, compare.Options{Head: compare.Worktree})
	if got := affected(p); got != leaf || !p.Head.Dirty || p.Head.Commit != "" {
		t.Errorf("on disk: %s, %+v", got, p.Head)
	}
	r.Write(map[string]string{".gitignore": "*.ignored.yaml\n", "recipes/overlays/x.ignored.yaml": strings.Replace(overlay, "%", "x", 1) + "{criteria: {service: x}}\n"})
	if got := affected(run(t, r, compare.Options{Head: compare.Worktree})); got != leaf+" x" {
		t.Errorf("with an overlay that git ignores: %s", got)
	}
}

// A symbolic link has the content of its target, also if the target is outside of the tree.
func TestLinks(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	r.Write(map[string]string{"shared/values.yaml": "a: 1\n"})
	r.Remove("recipes/components/gpu-operator/values-eks.yaml")
	if err := os.Symlink("../../../shared/values.yaml", filepath.Join(r.Dir, "recipes/components/gpu-operator/values-eks.yaml")); err != nil {
		t.Fatal(err)
	}
	r.Commit("a link", nil)
	r.Git("checkout", "-q", "-b", "branch")
	r.Write(map[string]string{"shared/values.yaml": "a: 2\n"})
	onDisk := run(t, r, compare.Options{Head: compare.Worktree})
	r.Commit("change", nil)
	for where, p := range map[string]*impact.Plan{"on disk": onDisk, "committed": run(t, r, compare.Options{})} {
		if got := affected(p); got != "h100-eks-training "+leaf {
			t.Errorf("%s: selected are %s (everything: %s)", where, got, p.Everything)
		}
	}
}

// In firstlight's own repository its code is the harness.
func TestOwnHarness(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	r.Commit("code", map[string]string{"go.mod": "module github.com/firstlight/firstlight\n\ngo 1.26\n", "internal/x/x.go": "package x\n", "docs/x.md": "x"})
	for file, want := range map[string]string{
		"internal/x/x.go": everyone, "internal/lab/data/stage.yaml": everyone, "components/etcd/go.mod": everyone, "go.sum": everyone, "cmd/x/main.go": everyone, "docs/x.md": "", "LICENSE": "",
	} {
		r.Git("checkout", "-q", "-B", "branch", "main")
		r.Commit("change", map[string]string{file: "changed\n"})
		p := run(t, r, compare.Options{Version: "v1.2.3"})
		if got := affected(p); got != want {
			t.Errorf("%s: selected are %q", file, got)
		}
		if p.Harness.Version != "" {
			t.Errorf("the harness is of version %s, though it is built from here", p.Harness.Version)
		}
	}
}

// Elsewhere it is the version, and what the user adds.
func TestHarness(t *testing.T) {
	t.Parallel()
	r := repository(t, recipetest.Small())
	r.Git("checkout", "-q", "-b", "branch")
	r.Commit("change", map[string]string{"ci/deep/run.sh": "x", "go.mod": "module example.com/ours\n", "main.go": "package main\n"})
	if got := affected(run(t, r, compare.Options{Version: "v1"})); got != "" {
		t.Errorf("without a pattern: %s", got)
	}
	p := run(t, r, compare.Options{Version: "v1", Harness: []impact.Glob{"ci/**"}})
	if got := affected(p); got != everyone || !reasons(p)["harness: ci/deep/run.sh added"] {
		t.Errorf("with a pattern: %s, %v", got, reasons(p))
	}
	if other := run(t, r, compare.Options{Version: "v2"}); other.Harness.Digest == p.Harness.Digest {
		t.Error("another version has the same digest")
	}
}
