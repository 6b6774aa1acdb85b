package impact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// lines are a plan's recipes, as "tier recipe".
func lines(p *impact.Plan) string {
	var out []string
	for _, s := range p.Recipes {
		text := fmt.Sprintf("%d %s", s.Tier, s.Recipe)
		if s.TestedBy != "" {
			text += " by " + s.TestedBy
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestEvents(t *testing.T) {
	t.Parallel()
	before := recipetest.Small()
	after := recipetest.Edit(before, map[string]string{"components/network-operator/values-aks.yaml": "a: 1\n"})
	every := "a100-aks-inference, aks, eks, eks-training, h100-any, h100-eks-training, h100-eks-ubuntu-training-kubeflow"
	all := "3 " + strings.ReplaceAll(every, ", ", ", 3 ")
	tests := []struct {
		name string
		edit func(in *impact.Input)
		want string
		left int
	}{
		{"a pull request", func(*impact.Input) {}, "1 aks, 1 eks, 1 eks-training, 2 a100-aks-inference", 3},
		{"a pull request that changes nothing", func(in *impact.Input) { in.Head.FS, in.Changes = before, nil }, "1 aks, 1 eks, 1 eks-training", 4},
		{"a push", func(in *impact.Input) { in.Event = impact.Push }, all, 0},
		{"at night", func(in *impact.Input) { in.Event, in.Base = impact.Schedule, impact.State{} }, all, 0},
		{"by hand", func(in *impact.Input) { in.Event = impact.Dispatch }, all, 0},
		{"by name", func(in *impact.Input) { in.Event, in.Names = impact.Dispatch, []string{"eks", "aks", "eks"} }, "0 aks, 0 eks", 5},
		{"the harness", func(in *impact.Input) {
			in.Harness.Changes = []git.Change{{Path: "x.go", Kind: git.Added}, {Path: "y.go", Kind: git.Added}}
		},
			"1 aks, 1 eks, 1 eks-training, 2 a100-aks-inference, 2 h100-any, 2 h100-eks-training, 2 h100-eks-ubuntu-training-kubeflow", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := pullRequest(before, after)
			tt.edit(&in)
			p := plan(t, in)
			if got := lines(p); got != tt.want || p.NotSelected != tt.left || p.Total != 7 || !p.HasWork {
				t.Errorf("selected are %s; %d of %d are left out\nwant %s; %d", got, p.NotSelected, p.Total, tt.want, tt.left)
			}
			for _, s := range p.Recipes {
				if len(s.Reasons) == 0 || len(s.Digest) != 64 {
					t.Errorf("%s has digest %q and reasons %v", s.Recipe, s.Digest, s.Reasons)
				}
			}
			if again := plan(t, in); again.Digest != p.Digest {
				t.Error("the same plan has two digests")
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	small := recipetest.Small()
	for want, edit := range map[string]func(in *impact.Input){
		`recipe "ekss" not found: did you mean eks?`: func(in *impact.Input) { in.Event, in.Names = impact.Dispatch, []string{"ekss"} },
		"firstlight recipe list prints the 7":        func(in *impact.Input) { in.Event, in.Names = impact.Dispatch, []string{"something-else"} },
		"no recipe tree at HEAD":                     func(in *impact.Input) { in.Head.FS = nil },
		"the tree has no recipe":                     func(in *impact.Input) { in.Head.FS = fstest.MapFS{} },
		`cannot make a plan for event "x"`:           func(in *impact.Input) { in.Event = "x" },
	} {
		in := pullRequest(small, small)
		edit(&in)
		if want == "the tree has no recipe" {
			in.Event = impact.Push
		}
		if _, err := impact.Make(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := impact.Make(ctx, pullRequest(small, small)); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended: %v", err)
	}
}

// A recipe that cannot be resolved is selected with the reason; so is a recipe whose file
// cannot be read any more.
func TestBroken(t *testing.T) {
	t.Parallel()
	before := recipetest.Small()
	after := recipetest.Edit(before, map[string]string{"overlays/aks/a100-aks-inference.yaml": strings.Replace(
		string(before["overlays/aks/a100-aks-inference.yaml"].Data), "    - name: csi-snapshots\n", "    - {name: csi-snapshots, dependencyRefs: [nothing]}\n", 1)})
	p := plan(t, pullRequest(before, after))
	s, ok := p.Find("a100-aks-inference")
	if !ok || s.Digest != "" || len(s.Reasons) != 1 || !strings.Contains(s.Reasons[0].String(), "broken: recipes/overlays/aks/a100-aks-inference.yaml:14:46: error: csi-snapshots depends on nothing") {
		t.Errorf("it is %+v", s)
	}
	p = plan(t, pullRequest(after, before))
	if s, _ = p.Find("a100-aks-inference"); len(s.Reasons) != 1 || s.Reasons[0].Via != impact.ViaBrokenBefore || s.Digest == "" {
		t.Errorf("repaired it is %+v", s)
	}
	p = plan(t, pullRequest(before, recipetest.Edit(before, map[string]string{"overlays/h100-any.yaml": "["})))
	s, ok = p.Find("h100-any")
	if !ok || s.Digest != "" || p.Everything == "" || p.Total != 7 || len(p.Recipes) != 7 || len(p.Removed) != 0 {
		t.Errorf("with an unreadable file it is %+v, everything %q, %d of %d", s, p.Everything, len(p.Recipes), p.Total)
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	before := recipetest.Small()
	after := recipetest.Edit(before, map[string]string{"checks/gpu-operator/health-check.yaml": "x: 1\n"})
	tests := []struct {
		name    string
		classes [][]string
		err     error
		want    string
		note    string
	}{
		{
			name:    "one stands for others, in the lower tier",
			classes: [][]string{{"h100-any", "eks", "h100-eks-training"}, {"aks"}, {"eks-training"}, {"a100-aks-inference", "h100-eks-ubuntu-training-kubeflow"}},
			want: "1 aks, 1 eks by h100-any, 1 eks-training, 1 h100-any, 2 a100-aks-inference, 2 h100-eks-training by h100-any, " +
				"2 h100-eks-ubuntu-training-kubeflow by a100-aks-inference",
		},
		{name: "an error", err: errors.New("no idea"), note: "no idea"},
		{name: "one is in none", classes: [][]string{{"eks"}}, note: "is in no class"},
		{name: "one is in two", classes: [][]string{{"eks"}, {"eks", "aks"}}, note: "eks is in two classes"},
		{name: "an empty one", classes: [][]string{{}}, note: "without members"},
		{
			name: "an unselected recipe", classes: [][]string{{"a100-aks-inference", "aks", "eks", "eks-training", "h100-any", "h100-eks-training", "h100-eks-ubuntu-training-kubeflow", "x"}},
			note: "class has the unexpected member x",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := pullRequest(before, after)
			in.Classes = func(head *tree.Tree, recipes []string) ([][]string, error) {
				if len(recipes) != 7 || head.Label != dir {
					t.Errorf("asked for the classes of %v of %s", recipes, head.Label)
				}
				return tt.classes, tt.err
			}
			p := plan(t, in)
			if tt.want == "" {
				tt.want = "1 aks, 1 eks, 1 eks-training, 2 a100-aks-inference, 2 h100-any, 2 h100-eks-training, 2 h100-eks-ubuntu-training-kubeflow"
			}
			if got := lines(p); got != tt.want {
				t.Errorf("selected are %s\nwant %s", got, tt.want)
			}
			if notes := strings.Join(p.Notes, ""); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("notes are %q, want %q", notes, tt.note)
			}
			var sharded []string
			for _, s := range p.Shards {
				sharded = append(sharded, s.Recipes...)
			}
			if len(sharded) != len(p.Tests()) {
				t.Errorf("%d are tested, and %d are in shards", len(p.Tests()), len(sharded))
			}
		})
	}
	// Tier 3 tests every member.
	in := pullRequest(before, after)
	in.Event = impact.Push
	in.Classes = func(*tree.Tree, []string) ([][]string, error) { t.Error("classes in tier 3"); return nil, nil }
	if p := plan(t, in); len(p.Tests()) != 7 {
		t.Errorf("tier 3 tests %d of 7", len(p.Tests()))
	}
}

func TestShards(t *testing.T) {
	t.Parallel()
	fsys := recipetest.Generate(700, 1)
	for per, want := range map[int]int{0: 3, 1: impact.MaxJobs, 100: 7, 333: 3, 1000: 1} {
		in := pullRequest(fsys, fsys)
		in.Event, in.PerShard = impact.Push, per
		p := plan(t, in)
		seen := map[string]int{}
		least, most := 1000, 0
		for i, s := range p.Shards {
			least, most = min(least, len(s.Recipes)), max(most, len(s.Recipes))
			for _, r := range s.Recipes {
				seen[r]++
			}
			if s.Index != i+1 || s.Of != want || s.Name != fmt.Sprintf("%d/%d", i+1, want) || s.ID != fmt.Sprintf("tier3-%d-of-%d", i+1, want) {
				t.Errorf("shard %d is %+v", i, s)
			}
			if found, err := p.Part(s.ID); err != nil || found.Name != s.Name {
				t.Errorf("%s is %v, %v", s.ID, found, err)
			}
		}
		if len(p.Shards) != want || len(seen) != 700 || most-least > 1 {
			t.Errorf("%d a shard: %d shards of %d to %d, %d recipes", per, len(p.Shards), least, most, len(seen))
		}
		for r, n := range seen {
			if n != 1 {
				t.Errorf("%s is in %d shards", r, n)
			}
		}
		if _, err := p.Part("tier9"); err == nil {
			t.Error("found a missing part")
		}
	}
}

func TestWriteGitHub(t *testing.T) {
	t.Parallel()
	before := recipetest.Small()
	after := recipetest.Edit(before, map[string]string{"components/network-operator/values-aks.yaml": "a: 1\n"})
	outputs := func(p *impact.Plan) map[string]string {
		var b strings.Builder
		if err := p.WriteGitHub(&b); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for line := range strings.Lines(b.String()) {
			key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if _, twice := out[key]; !ok || twice {
				t.Errorf("the line %q must occur exactly once", line)
			}
			out[key] = value
		}
		return out
	}
	in := pullRequest(before, after)
	p := plan(t, in)
	want := map[string]string{
		"has-work": "true", "reason": "4 of 7 recipes: 3 generic, 1 affected", "recipes": "4", "digest": p.Digest,
		"has-tier1": "true", "tier1": `{"include":[{"id":"tier1-1-of-1","shard":"1/1","tier":1,"recipes":"aks eks eks-training"}]}`,
		"has-tier2": "true", "tier2": `{"include":[{"id":"tier2-1-of-1","shard":"1/1","tier":2,"recipes":"a100-aks-inference"}]}`,
		"has-tier3": "false", "tier3": `{"include":[]}`,
	}
	if diff := cmp.Diff(want, outputs(p)); diff != "" {
		t.Error(diff)
	}
	// Recipes selected by name run in the workflow of tier 3.
	in.Event, in.Names = impact.Dispatch, []string{"eks"}
	if got := outputs(plan(t, in)); got["tier3"] != `{"include":[{"id":"tier0-1-of-1","shard":"1/1","tier":0,"recipes":"eks"}]}` || got["has-tier3"] != "true" {
		t.Errorf("got %v", got)
	}
	// An empty plan is reported as such.
	none := recipetest.Edit(before, map[string]string{"overlays/eks.yaml": "", "overlays/aks/aks.yaml": "", "overlays/eks-training.yaml": "", "overlays/h100-eks-training.yaml": "", "overlays/h100-eks-ubuntu-training-kubeflow.yaml": "", "overlays/aks/a100-aks-inference.yaml": ""})
	p = plan(t, pullRequest(none, none))
	got := outputs(p)
	if got["has-work"] != "false" || got["recipes"] != "0" || got["tier1"] != `{"include":[]}` || got["reason"] != "nothing to do: the change affects none of the 1 recipes" || got["digest"] != p.Digest {
		t.Errorf("got %v", got)
	}
	long := *p
	long.Shards = []impact.Shard{{Tier: 3, Recipes: []string{strings.Repeat("x", 600_000)}}}
	if err := long.WriteGitHub(&strings.Builder{}); err == nil {
		t.Error("more is written than a job's outputs may hold")
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	small := recipetest.Small()
	p := plan(t, pullRequest(small, small))
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Save(file); err != nil {
		t.Fatal(err)
	}
	back, err := impact.ReadPlan(file)
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(p)
	is, _ := json.Marshal(back)
	if string(was) != string(is) {
		t.Errorf("it was %s\nand is %s", was, is)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for old, with := range map[string]string{
		`"recipe": "eks"`: `"recipe": "eksx"`, `"hasWork": true`: `"hasWork": false`, `"tier": 1`: `"tier": 2`, `"event"`: `"evnt"`,
		`"id": "tier1-1-of-1"`: `"id": "tier1-1-of-2"`, "{": "[",
		// The last of two keys has the content of the digest; another reader takes the first.
		`"hasWork":`: `"hasWork": false, "hasWork":`, `"event":`: `"EVENT": "push", "event":`, "\n}\n": "\n}\n{}",
	} {
		changed := strings.Replace(string(data), old, with, 1)
		if changed == string(data) {
			t.Fatalf("there is no %s", old)
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := impact.ReadPlan(file); err == nil {
			t.Errorf("a plan with %s for %s is read", with, old)
		}
	}
	if _, err := impact.ReadPlan(file + "x"); err == nil {
		t.Error("no error for a missing plan file")
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("other files next to the plan: %v, %v", left, err)
	}
	if err := p.Save(filepath.Join(file, "x")); err == nil {
		t.Error("a plan was saved below a file")
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"**/*.go x.go": true, "**/*.go a/b/x.go": true, "**/*.go a/b/x.god": false, "internal/** internal/a/b": true, "internal/** internals/a": false,
		"internal/** internal": true, "a/**/z a/z": true, "a/**/z a/b/c/z": true, "a/**/z a/b/c/zz": false, "*.md a/b.md": false, "*.md b.md": true,
		".github/workflows/recipes*.yaml .github/workflows/recipes-all.yaml": true, ".github/workflows/recipes*.yaml .github/workflows/x/recipes.yaml": false,
		"a/b a": false, "a a/b": false, "** a/b/c": true, "a/* a/b/c": false, "[ [": false,
	} {
		pattern, p, _ := strings.Cut(text, " ")
		if got := impact.Glob(pattern).Match(p); got != want {
			t.Errorf("%s matches %s: %v", pattern, p, got)
		}
	}
}

func TestParseEvent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]impact.Event{"pull_request": impact.PullRequest, "push": impact.Push, "schedule": impact.Schedule, "dispatch": impact.Dispatch, "workflow_dispatch": impact.Dispatch} {
		if got, err := impact.ParseEvent(text); err != nil || got != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "merge", "Push"} {
		if got, err := impact.ParseEvent(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// Inputs that only together make the same text have different digests, and an order
// of files does not matter.
func TestHarnessDigest(t *testing.T) {
	t.Parallel()
	entries := []git.Entry{{Path: "a.go", Mode: "100644", ID: "1"}, {Path: "b.go", Mode: "100644", ID: "2"}, {Path: "c.txt", Mode: "100644", ID: "3"}}
	globs := []impact.Glob{"**/*.go"}
	digest := func(version string, edit func(e []git.Entry) []git.Entry) string {
		h := impact.NewHarness(version, globs, edit(slices.Clone(entries)), nil)
		return h.Digest
	}
	same := func(e []git.Entry) []git.Entry { return e }
	seen := map[string]string{digest("v1", same): "as it is"}
	for name, d := range map[string]string{
		"another version": digest("v2", same),
		"another content": digest("v1", func(e []git.Entry) []git.Entry { e[0].ID = "9"; return e }),
		"another mode":    digest("v1", func(e []git.Entry) []git.Entry { e[0].Mode = "100755"; return e }),
		"another name":    digest("v1", func(e []git.Entry) []git.Entry { e[0].Path = "aa.go"; return e }),
		"one less":        digest("v1", func(e []git.Entry) []git.Entry { return e[1:] }),
	} {
		if other, there := seen[d]; there {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	for name, edit := range map[string]func(e []git.Entry) []git.Entry{
		"another order": func(e []git.Entry) []git.Entry { slices.Reverse(e); return e },
		"another file":  func(e []git.Entry) []git.Entry { e[2].ID = "9"; return e },
	} {
		if digest("v1", edit) != digest("v1", same) {
			t.Errorf("%s changes the digest", name)
		}
	}
	h := impact.NewHarness("v1", globs, entries, []git.Change{{Path: "c.txt"}, {Path: "a.go"}})
	if h.Of("v1") != h.Digest || h.Of("v2") == h.Digest || len(h.Changes) != 1 {
		t.Errorf("the harness is %+v", h)
	}
	if h.Built = true; h.Of("v2") != h.Digest {
		t.Error("a harness that is built has a version")
	}
}
