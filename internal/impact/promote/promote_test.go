package promote_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/promote"
	"github.com/firstlight/firstlight/internal/impact/record"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// good is a commit of three recipes that passed in two shards.
func good() promote.Input {
	in := promote.Input{
		Commit: commit, Tree: "recipes", Harness: func(version string) string { return "harness of " + version },
		Recipes: map[string]impact.Measured{"a": {Digest: "da"}, "b": {Digest: "db"}, "c": {Digest: "dc"}},
		Runtime: []record.Runtime{
			{Name: "nccl", Verdict: check.Passed, Hardware: "2 x p5.48xlarge", When: time.Unix(10, 0)},
			{Name: "sim", Verdict: check.Passed, Hardware: "kwok", Simulated: true},
			{Name: "where", Verdict: check.Passed},
			{Name: "flaky", Verdict: check.Passed, Hardware: "x", When: time.Unix(10, 0)},
			{Name: "flaky", Verdict: check.Failed, Reason: "slow", Hardware: "x", When: time.Unix(20, 0)},
		},
	}
	for i, recipes := range [][]string{{"a", "b"}, {"c"}} {
		r := record.Record{
			Version: 1, Tool: "v1", Commit: commit, Event: impact.Schedule, Tier: 3, Tree: "recipes", Harness: "harness of v1", Plan: "p",
			Shard: &record.Shard{ID: "x", Index: i + 1, Of: 2}, When: time.Unix(100, 0), Verdict: check.Passed,
		}
		for _, name := range recipes {
			r.Recipes = append(r.Recipes, record.Recipe{Recipe: name, Digest: "d" + name, Fingerprint: name, Verdict: check.Passed})
		}
		in.Records = append(in.Records, r)
	}
	return in
}

func TestJudge(t *testing.T) {
	t.Parallel()
	each := func(edit func(r *record.Record)) func(in *promote.Input) {
		return func(in *promote.Input) {
			for i := range in.Records {
				edit(&in.Records[i])
			}
		}
	}
	tests := []struct {
		name string
		edit func(in *promote.Input)
		want check.Verdict
		// reasons, each a part of one; there are no others.
		reasons []string
	}{
		{"it qualifies", func(*promote.Input) {}, check.Passed, nil},
		{"with a runtime check", func(in *promote.Input) { in.Require = []string{"nccl"} }, check.Passed, nil},
		{"runtime checks do not replace scheduling", func(in *promote.Input) { in.Records = nil }, check.Unobserved, []string{"no record of tier 3"}},
		{"no record", func(in *promote.Input) { in.Records, in.Runtime = nil, nil }, check.Unobserved, []string{"no record of tier 3"}},
		{"records of other tiers", each(func(r *record.Record) { r.Tier = 2 }), check.Unobserved, []string{"found only records of tiers [2]"}},
		{"a shard is missing", func(in *promote.Input) { in.Records = in.Records[:1] }, check.Failed, []string{"shards 2 of 2 have no record", "c: not tested"}},
		{"a recipe is missing", func(in *promote.Input) { in.Recipes["new"] = impact.Measured{Digest: "x"} }, check.Failed, []string{"new: not tested"}},
		{"a recipe too many", func(in *promote.Input) { delete(in.Recipes, "b") }, check.Failed, []string{"b: tested but not in the commit"}},
		{"a recipe twice", func(in *promote.Input) {
			in.Records[1].Recipes = append(in.Records[1].Recipes, in.Records[0].Recipes[0])
		}, check.Failed, []string{"a: tested twice"}},
		{"a recipe failed", func(in *promote.Input) {
			in.Records[0].Recipes[1].Verdict, in.Records[0].Recipes[1].Reason, in.Records[0].Verdict = check.Failed, "unbound", check.Failed
		}, check.Failed, []string{"b: failed: unbound"}},
		{"a recipe was not observed", func(in *promote.Input) { in.Records[0].Recipes[1].Verdict = check.Unobserved }, check.Failed, []string{"b: unobserved"}},
		{"another digest", func(in *promote.Input) { in.Recipes["a"] = impact.Measured{Digest: "new"} }, check.Failed, []string{"a: tested with different files: digest da, want new"}},
		{"a recipe that cannot be resolved", func(in *promote.Input) { in.Recipes["a"] = impact.Measured{Err: errors.New("circle\nmore")} }, check.Failed, []string{"a: recorded as passed but cannot be resolved: circle"}},
		{"another harness", each(func(r *record.Record) { r.Harness = "other" }), check.Failed, []string{"tested with another harness"}},
		{"another version", each(func(r *record.Record) { r.Tool = "v2" }), check.Failed, []string{"tested with another harness"}},
		{"a harness that another version ran", func(in *promote.Input) { in.Tool = "v2" }, check.Failed, []string{"tested by firstlight v1, this is v2"}},
		{"a harness that this version ran", func(in *promote.Input) { in.Tool = "v1" }, check.Passed, nil},
		{"not clean", each(func(r *record.Record) { r.Dirty = true }), check.Failed, []string{"the working tree was not clean"}},
		{"another tree", each(func(r *record.Record) { r.Tree = "x" }), check.Failed, []string{"tested the recipes in x instead of recipes"}},
		{"another commit", each(func(r *record.Record) { r.Commit = strings.Repeat("1", 40) }), check.Failed, []string{"tested another commit: 111111111111"}},
		{"a shard that failed for itself", func(in *promote.Input) { in.Records[0].Verdict, in.Records[0].Reason = check.Failed, "x" }, check.Failed, []string{"the run has the verdict failed: x: x"}},
		{"a class that does not agree", func(in *promote.Input) {
			in.Records[0].Recipes[0].Fingerprint, in.Records[1].Recipes[0].Fingerprint, in.Records[1].Recipes[0].Verdict = "same", "same", check.Failed
		}, check.Failed, []string{"c: failed", "class of a (same): a passed; c failed"}},
		{"no recipe", func(in *promote.Input) { in.Recipes = nil; in.Records[0].Recipes, in.Records[1].Recipes = nil, nil }, check.Failed, []string{"the commit has no recipe"}},
		{"an invalid tree", func(in *promote.Input) { in.Unusable, in.Recipes, in.Records = "circle", nil, nil }, check.Failed, []string{"the recipe tree of the commit is invalid: circle", "no record of tier 3"}},
		{"every reason", func(in *promote.Input) {
			in.Records = in.Records[:1]
			in.Records[0].Dirty, in.Records[0].Recipes[0].Digest, in.Require = true, "x", []string{"nothing"}
		}, check.Failed, []string{"not clean", "shards 2 of 2", "a: tested with different files", "c: not tested", "runtime check nothing: no record found"}},
		{"runtime checks that do not do", func(in *promote.Input) { in.Require = []string{"nothing", "sim", "where", "flaky"} }, check.Failed, []string{
			"runtime check nothing: no record found", "runtime check sim: passed on simulated hardware", "runtime check where: record does not name the hardware", "runtime check flaky: failed: slow",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := good()
			tt.edit(&in)
			got := promote.Judge(in)
			if got.Verdict != tt.want || got.Qualifies != (tt.want == check.Passed) || len(got.Reasons) != len(tt.reasons) {
				t.Fatalf("%s, qualifies: %v, because\n%s\nwant %s, %d reasons", got.Verdict, got.Qualifies, strings.Join(got.Reasons, "\n"), tt.want, len(tt.reasons))
			}
			all := strings.Join(got.Reasons, "\n")
			for _, r := range tt.reasons {
				if !strings.Contains(all, r) {
					t.Errorf("%q is not among\n%s", r, all)
				}
			}
		})
	}
}

// The newest complete run is judged; the other runs are listed in the notes.
func TestRuns(t *testing.T) {
	t.Parallel()
	older := good()
	for i := range older.Records {
		older.Records[i].Plan, older.Records[i].When, older.Records[i].Event = "older", time.Unix(50, 0), impact.Push
		older.Records[i].Verdict, older.Records[i].Reason = check.Failed, "a failed"
		older.Records[i].Recipes[0].Verdict = check.Failed
	}
	in := good()
	newer := good().Records[0] // of which one shard is lost
	newer.Plan, newer.When = "newer", time.Unix(200, 0)
	in.Records = append(append(in.Records, older.Records...), newer)
	got := promote.Judge(in)
	if !got.Qualifies || got.Scheduling.When != time.Unix(100, 0) || len(got.Notes) != 2 ||
		!strings.Contains(got.Notes[0], "1 of 2 shards have no record") || !strings.Contains(got.Notes[1], "another run (push, 1970-01-01T00:00:50Z) has the verdict failed") {
		t.Errorf("got %+v", got)
	}
	in.Records = append(older.Records, good().Records[0])
	if got := promote.Judge(in); got.Qualifies || got.Scheduling.Event != impact.Push {
		t.Errorf("the newer is not whole, the older failed: %+v", got)
	}
}
