package summarize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
	"github.com/firstlight/firstlight/internal/impact/summarize"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// aPlan has two shards of tier 2, one of tier 1, and a recipe that another stands for.
func aPlan() *impact.Plan {
	p := &impact.Plan{
		Event: impact.PullRequest, Tree: "recipes", Head: impact.Revision{Commit: commit}, HasWork: true, Total: 9,
		Harness: impact.Harness{Digest: "harness"}, Reason: "5 of 9 recipes",
		Recipes: []impact.Selected{
			{Recipe: "eks", Tier: 1, Digest: "d-eks", StandsFor: []string{"eks-training"}},
			{Recipe: "eks-training", Tier: 1, Digest: "d-eks-training", TestedBy: "eks"},
			{Recipe: "a", Tier: 2, Digest: "d-a"}, {Recipe: "b", Tier: 2, Digest: "d-b"}, {Recipe: "c", Tier: 2, Digest: "d-c"},
		},
		Shards: []impact.Shard{
			{ID: "tier1-1-of-1", Name: "1/1", Tier: 1, Index: 1, Of: 1, Recipes: []string{"eks"}},
			{ID: "tier2-1-of-2", Name: "1/2", Tier: 2, Index: 1, Of: 2, Recipes: []string{"a", "b"}},
			{ID: "tier2-2-of-2", Name: "2/2", Tier: 2, Index: 2, Of: 2, Recipes: []string{"c"}},
		},
	}
	p.Digest = p.ComputeDigest()
	return p
}

// results are those of a plan that passed.
func results(p *impact.Plan) []record.Record {
	var out []record.Record
	for _, s := range p.Shards {
		r := record.Record{
			Version: record.Version, Commit: commit, Event: p.Event, Tier: s.Tier, Tree: p.Tree, Harness: p.Harness.Digest, Plan: p.Digest,
			Shard: &record.Shard{ID: s.ID, Index: s.Index, Of: s.Of}, When: time.Unix(1, 0), Verdict: check.Passed,
		}
		for _, name := range s.Recipes {
			r.Recipes = append(r.Recipes, record.Recipe{Recipe: name, Digest: "d-" + name, Fingerprint: "f-" + name, Verdict: check.Passed})
		}
		out = append(out, r)
	}
	return out
}

func fine() map[string]string {
	return map[string]string{"plan": "success", "tier1": "success", "tier2": "success"}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit func(in *summarize.Input)
		want check.Verdict
		part string // of the reason, or of a problem
	}{
		{"all of it passed", func(*summarize.Input) {}, check.Passed, "4 recipes passed, on behalf of 1 others"},
		{"jobs are not known", func(in *summarize.Input) { in.Jobs, in.PlanDigest = nil, "" }, check.Passed, "4 recipes passed"},

		{"a job with work was skipped", func(in *summarize.Input) { in.Jobs["tier2"] = "skipped" }, check.Unobserved, "job tier2 was skipped although it had work"},
		{"a job was cancelled", func(in *summarize.Input) { in.Jobs["tier1"] = "cancelled" }, check.Unobserved, `job tier1 ended with "cancelled"`},
		{"a job failed, whatever its results", func(in *summarize.Input) { in.Jobs["tier1"] = "failure" }, check.Failed, `job tier1 ended with "failure"`},
		{"planning was skipped", func(in *summarize.Input) { in.Jobs["plan"] = "skipped" }, check.Unobserved, "job plan was skipped"},
		{"planning failed", func(in *summarize.Input) { in.Jobs["plan"] = "failure" }, check.Failed, "job plan"},
		{"a job is not waited for", func(in *summarize.Input) { delete(in.Jobs, "tier2") }, check.Unobserved, "job tier2 has work but no result"},
		{"planning is not waited for", func(in *summarize.Input) { delete(in.Jobs, "plan") }, check.Unobserved, "job plan has work"},
		{"a job without work succeeded", func(in *summarize.Input) { in.Jobs["tier3"] = "success" }, check.Unobserved, "job tier3 succeeded although the plan has no work for it"},
		{"a job without work was skipped", func(in *summarize.Input) { in.Jobs["tier3"] = "skipped" }, check.Passed, ""},
		{"a job's result is not known", func(in *summarize.Input) { in.Jobs["tier1"] = "" }, check.Unobserved, `job tier1 ended with ""`},
		{"no jobs", func(in *summarize.Input) { in.Jobs = map[string]string{} }, check.Unobserved, "has work but no result"},

		{"no result at all", func(in *summarize.Input) { in.Records = nil }, check.Unobserved, "shard tier1-1-of-1 has no result (1 recipes)"},
		{"a shard is missing", func(in *summarize.Input) { in.Records = in.Records[:2] }, check.Unobserved, "shard tier2-2-of-2 has no result (1 recipes)"},
		{"duplicate shard", func(in *summarize.Input) { in.Records = append(in.Records, in.Records[1]) }, check.Unobserved, "shard tier2-1-of-2 has 2 results"},
		{"a result of another plan", func(in *summarize.Input) {
			other := in.Records[0]
			other.Plan = "other"
			in.Records = append(in.Records, other)
		}, check.Unobserved, "unexpected result: tier1-1-of-1 of plan other"},
		{"a result of no shard", func(in *summarize.Input) {
			other := in.Records[0]
			other.Shard = nil
			in.Records = append(in.Records[1:], other)
		}, check.Unobserved, "without shard"},
		{"of another commit", func(in *summarize.Input) { in.Records[0].Commit = strings.Repeat("1", 40) }, check.Unobserved, "commit 111111111111, want 0123456789ab"},
		{"of another harness", func(in *summarize.Input) { in.Records[0].Harness = "other" }, check.Unobserved, "harness other, want harness"},
		{"of a tree that was not clean", func(in *summarize.Input) { in.Records[0].Dirty = true }, check.Unobserved, "uncommitted files"},
		{"of another tree", func(in *summarize.Input) { in.Records[0].Tree = "other" }, check.Unobserved, "tier 1 of other"},
		{"of another tier", func(in *summarize.Input) { in.Records[0].Tier = 3 }, check.Unobserved, "tier 3 of"},
		{"another plan than the jobs had", func(in *summarize.Input) { in.PlanDigest = "other" }, check.Unobserved, "the jobs used another plan"},

		{"a recipe is missing", func(in *summarize.Input) { in.Records[1].Recipes = in.Records[1].Recipes[:1] }, check.Unobserved, "b was not tested"},
		{"duplicate recipe", func(in *summarize.Input) {
			in.Records[1].Recipes = append(in.Records[1].Recipes, in.Records[1].Recipes[0])
		}, check.Unobserved, "a was tested 2 times"},
		{"a recipe is in two shards", func(in *summarize.Input) {
			in.Records[2].Recipes = append(in.Records[2].Recipes, in.Records[1].Recipes[0])
		}, check.Unobserved, "a was tested 2 times"},
		{"a recipe too many", func(in *summarize.Input) {
			in.Records[1].Recipes = append(in.Records[1].Recipes, record.Recipe{Recipe: "z", Digest: "z", Verdict: check.Passed})
		}, check.Unobserved, "z was tested although the plan does not ask for it"},
		{"a recipe represented by another of its class", func(in *summarize.Input) {
			in.Records[0].Recipes = append(in.Records[0].Recipes, record.Recipe{Recipe: "eks-training", Digest: "d-eks-training", Verdict: check.Passed})
		}, check.Unobserved, "eks-training was tested although the plan does not ask for it"},
		{"a recipe with other files", func(in *summarize.Input) { in.Records[2].Recipes[0].Digest = "other" }, check.Unobserved, "c was tested with different files"},
		{"a recipe without a digest", func(in *summarize.Input) { in.Records[2].Recipes[0].Digest = "" }, check.Unobserved, "c was tested with different files"},

		{"a recipe failed", func(in *summarize.Input) { in.Records[1].Recipes[1].Verdict = check.Failed }, check.Failed, "1 of 4 recipes did not pass"},
		{"a recipe was not observed", func(in *summarize.Input) { in.Records[1].Recipes[1].Verdict = check.Unobserved }, check.Unobserved, "1 of 4 recipes did not pass"},
		{"a recipe was blocked", func(in *summarize.Input) { in.Records[1].Recipes[1].Verdict = check.Blocked }, check.Unobserved, "1 of 4"},
		{"not applicable is not a pass", func(in *summarize.Input) { in.Records[1].Recipes[1].Verdict = check.NotApplicable }, check.Unobserved, "1 of 4"},
		{"failed and missing is failed", func(in *summarize.Input) {
			in.Records[1].Recipes[1].Verdict, in.Records = check.Failed, in.Records[:2]
		}, check.Failed, "1 of 4 recipes did not pass; 2 problems"},
		{"a shard failed whose recipes passed", func(in *summarize.Input) { in.Records[1].Verdict, in.Records[1].Reason = check.Failed, "classes" }, check.Failed, "a shard has the verdict failed: classes"},
		{"a class that does not agree, in two shards", func(in *summarize.Input) {
			in.Records[1].Recipes[0].Fingerprint, in.Records[2].Recipes[0].Fingerprint = "same", "same"
			in.Records[2].Recipes[0].Verdict = check.Unobserved
		}, check.Unobserved, "class of a (same): a passed; c unobserved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := aPlan()
			in := summarize.Input{Plan: p, PlanDigest: p.Digest, Jobs: fine(), Records: results(p)}
			tt.edit(&in)
			got := summarize.Judge(in)
			if said := got.Reason + "\n" + strings.Join(got.Problems, "\n"); got.Verdict != tt.want || !strings.Contains(said, tt.part) {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, said, tt.want, tt.part)
			}
		})
	}
}

// Only a plan without recipes to test passes without a result; the summary reports it.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	p := &impact.Plan{Event: impact.PullRequest, Tree: "recipes", Head: impact.Revision{Commit: commit}, Total: 9, Harness: impact.Harness{Digest: "harness"}, Reason: "nothing to do: x"}
	p.Digest = p.ComputeDigest()
	jobs := map[string]string{"plan": "success", "tier1": "skipped", "tier2": "skipped"}
	if got := summarize.Judge(summarize.Input{Plan: p, PlanDigest: p.Digest, Jobs: jobs}); got.Verdict != check.NotApplicable || got.Reason != "nothing to do: x" {
		t.Errorf("got %+v", got)
	}
	jobs["plan"] = "failure"
	if got := summarize.Judge(summarize.Input{Plan: p, PlanDigest: p.Digest, Jobs: jobs}); got.Verdict != check.Failed {
		t.Errorf("planning failed: %+v", got)
	}
	jobs = map[string]string{"plan": "success", "tier1": "cancelled"}
	if got := summarize.Judge(summarize.Input{Plan: p, Jobs: jobs}); got.Verdict != check.Unobserved {
		t.Errorf("a job was cancelled: %+v", got)
	}
	other := aPlan()
	if got := summarize.Judge(summarize.Input{Plan: p, Records: results(other)}); got.Verdict != check.Unobserved || len(got.Problems) != len(other.Shards) {
		t.Errorf("with results of something: %+v", got)
	}
	if got := summarize.Judge(summarize.Input{Plan: other}); got.Verdict != check.Unobserved {
		t.Errorf("a plan with work, and nothing else: %+v", got)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	p := aPlan()
	got := summarize.Judge(summarize.Input{Plan: p, Records: results(p)[:2]})
	if text := fmt.Sprintf("%d tested, %d covered, %d of %d shards", got.Tested, got.Covered, got.Shards, got.OfShards); text != "3 tested, 1 covered, 2 of 3 shards" {
		t.Error(text)
	}
}
