package impact_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/git"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// dir is where the tests' trees stand in their repositories.
const dir = "recipes"

// changesOf are the paths in which two trees differ, as a repository tells them.
func changesOf(before, after fstest.MapFS) []git.Change {
	var out []git.Change
	for _, p := range slices.Sorted(maps.Keys(after)) {
		was, there := before[p]
		switch {
		case !there:
			out = append(out, git.Change{Path: dir + "/" + p, Kind: git.Added})
		case !bytes.Equal(was.Data, after[p].Data):
			out = append(out, git.Change{Path: dir + "/" + p, Kind: git.Changed})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[p]; !there {
			out = append(out, git.Change{Path: dir + "/" + p, Kind: git.Removed})
		}
	}
	return out
}

func pullRequest(before, after fstest.MapFS) impact.Input {
	return impact.Input{
		Event: impact.PullRequest, Tree: dir, Changes: changesOf(before, after),
		Base: impact.State{FS: before, Label: dir, Name: "main", Commit: "b"}, Head: impact.State{FS: after, Label: dir, Name: "HEAD", Commit: "h"},
		Harness: impact.Harness{Digest: "h", Globs: []impact.Glob{impact.Workflows}},
	}
}

func plan(t *testing.T, in impact.Input) *impact.Plan {
	t.Helper()
	p, err := impact.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// affected are the recipes that a plan selects because of the change, with the
// reasons: those of tier 1 are tested anyway.
func affected(p *impact.Plan) map[string][]impact.Reason {
	out := map[string][]impact.Reason{}
	for _, s := range p.Recipes {
		for _, r := range s.Reasons {
			if r.Via != impact.ViaGeneric {
				out[s.Recipe] = append(out[s.Recipe], r)
			}
		}
	}
	return out
}

// measured is a state in which every recipe was resolved: the slow way.
type measured struct {
	loaded  *impact.Loaded
	recipes map[string]impact.Measured
}

func measureAll(t *testing.T, fsys fstest.MapFS) measured {
	t.Helper()
	l := impact.Load(impact.State{FS: fsys, Label: dir}, nil)
	all, err := l.Measure(t.Context(), l.Names())
	if err != nil {
		t.Fatal(err)
	}
	return measured{loaded: l, recipes: all}
}

// expected returns the recipes that must be selected: new recipes, recipes with another
// digest, and recipes that cannot be resolved before or after.
func expected(before, after measured) map[string]bool {
	out := map[string]bool{}
	for name, now := range after.recipes {
		was, there := before.recipes[name]
		if !there || now.Err != nil || was.Err != nil || was.Digest != now.Digest {
			out[name] = true
		}
	}
	return out
}

// cellsOf returns, by recipe, all that the scheduler sees of it and that decides its result. A
// recipe that cannot be tested has its problems instead; nil: none can be tested.
func cellsOf(t *testing.T, fsys fstest.MapFS) map[string]string {
	t.Helper()
	loaded, problems := tree.Load(fsys, tree.Options{Label: dir})
	if problems.Err() != nil {
		return nil
	}
	source, problems := schedule.Open(loaded)
	if problems.Err() != nil {
		return nil
	}
	out := map[string]string{}
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil {
			t.Fatal(err)
		}
		if out[name] = c.Fingerprint; c.Fingerprint == "" {
			out[name] = "problems: " + c.Problems.Error()
		}
	}
	return out
}
