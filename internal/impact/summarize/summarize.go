package summarize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
)

// Input has the data available when all jobs have ended.
type Input struct {
	// Plan lists the required tests; PlanDigest is its digest as reported by the job that made
	// it (empty: unknown).
	Plan       *impact.Plan
	PlanDigest string
	// Jobs are the results of the jobs that the summary depends on, by name, in GitHub's terms:
	// success, failure, cancelled, skipped. nil: unknown, not checked.
	Jobs map[string]string
	// Records are the results found.
	Records []record.Record
}

const (
	// JobPlan is the name of the job that plans, in the rendered workflows.
	JobPlan = "plan"
	success = "success"
	skipped = "skipped"
)

// JobOf returns the name of the job that tests a tier.
func JobOf(level int) string { return fmt.Sprintf("tier%d", level) }

// Summary is the result of the check.
type Summary struct {
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	// Tested counts recipes, Covered those that they were tested for.
	Tested  int `json:"tested"`
	Covered int `json:"covered"`
	// Shards counts the shards with a result, OfShards those of the plan.
	Shards   int `json:"shards"`
	OfShards int `json:"ofShards"`
	// Failed are the recipes that did not pass; Problems everything else that is wrong.
	Failed   []record.Recipe `json:"failed"`
	Problems []string        `json:"problems"`
	Plan     string          `json:"plan"`
}

// Judge compares results with a plan.
func Judge(in Input) Summary {
	j := judge{Input: in, out: Summary{Failed: []record.Recipe{}, Problems: []string{}, OfShards: len(in.Plan.Shards), Plan: in.Plan.Digest}}
	if in.PlanDigest != "" && in.PlanDigest != in.Plan.Digest {
		j.problem("the jobs used another plan: digest %.12s, want %.12s", in.Plan.Digest, in.PlanDigest)
	}
	j.jobs()
	j.shards()
	j.recipes()
	j.conclude()
	return j.out
}

type judge struct {
	Input
	out    Summary
	failed bool // at least one failure was observed
}

func (j *judge) problem(format string, args ...any) {
	j.out.Problems = append(j.out.Problems, fmt.Sprintf(format, args...))
}

// jobs compares the results of the jobs with their work.
func (j *judge) jobs() {
	if j.Jobs == nil {
		return
	}
	work := map[string]int{JobPlan: 1}
	for level := impact.Generic; level <= impact.All; level++ {
		if rows := j.Plan.Matrix(level).Include; len(rows) > 0 {
			work[JobOf(level)] = len(rows)
		}
	}
	for name := range work {
		if _, known := j.Jobs[name]; !known {
			j.problem("job %s has work but no result", name)
		}
	}
	for name, result := range j.Jobs {
		switch {
		case result == success && work[name] > 0, result == skipped && work[name] == 0:
		case result == skipped:
			j.problem("job %s was skipped although it had work", name)
		case result == success:
			j.problem("job %s succeeded although the plan has no work for it", name)
		default:
			j.failed = j.failed || result == "failure"
			j.problem("job %s ended with %q", name, result)
		}
	}
	slices.Sort(j.out.Problems)
}

// shards compares the records with the shards of the plan.
func (j *judge) shards() {
	byID := map[string]int{}
	for _, r := range j.Records {
		id := "without shard"
		if r.Shard != nil {
			id = r.Shard.ID
		}
		i := slices.IndexFunc(j.Plan.Shards, func(s impact.Shard) bool { return s.ID == id })
		if i < 0 || r.Plan != j.Plan.Digest {
			j.problem("unexpected result: %s of plan %.12s", id, r.Plan)
			continue
		}
		if byID[id]++; byID[id] > 1 {
			j.problem("shard %s has %d results", id, byID[id])
		}
		if wrong := j.mismatch(r, j.Plan.Shards[i]); wrong != "" {
			j.problem("result of shard %s does not match the plan: %s", id, wrong)
		}
	}
	for _, s := range j.Plan.Shards {
		if byID[s.ID] == 0 {
			j.problem("shard %s has no result (%d recipes)", s.ID, len(s.Recipes))
			continue
		}
		j.out.Shards++
	}
}

// mismatch describes how a record differs from the plan.
func (j *judge) mismatch(r record.Record, s impact.Shard) string {
	p := j.Plan
	switch {
	case p.Head.Commit != "" && r.Commit != p.Head.Commit:
		return fmt.Sprintf("commit %.12s, want %.12s", r.Commit, p.Head.Commit)
	case r.Dirty && !p.Head.Dirty:
		return "uncommitted files"
	case r.Harness != p.Harness.Digest:
		return fmt.Sprintf("harness %.12s, want %.12s", r.Harness, p.Harness.Digest)
	case r.Event != p.Event || r.Tier != s.Tier || r.Tree != p.Tree:
		return fmt.Sprintf("tier %d of %s for %s, want tier %d of %s for %s", r.Tier, r.Tree, r.Event, s.Tier, p.Tree, p.Event)
	default:
		return ""
	}
}

// recipes compares the tested recipes with the plan.
func (j *judge) recipes() {
	results := map[string]int{}
	var together record.Record // a class may span shards
	for _, r := range j.Records {
		if r.Plan != j.Plan.Digest {
			continue
		}
		together.Recipes = append(together.Recipes, r.Recipes...)
		for _, one := range r.Recipes {
			results[one.Recipe]++
			j.recipe(one, results[one.Recipe])
		}
		if r.Verdict != check.Passed && !slices.ContainsFunc(r.Recipes, func(one record.Recipe) bool { return one.Verdict != check.Passed }) {
			j.failed = j.failed || r.Verdict == check.Failed
			j.problem("a shard has the verdict %s: %s", r.Verdict, r.Reason)
		}
	}
	for _, text := range together.Disagreements() {
		j.problem("%s", text)
	}
	for _, want := range j.Plan.Tests() {
		if results[want.Recipe] == 0 {
			j.problem("%s was not tested", want.Recipe)
			continue
		}
		j.out.Tested++
		j.out.Covered += len(want.StandsFor)
	}
}

// recipe compares one result with the plan; times is how often the recipe was seen so far.
func (j *judge) recipe(one record.Recipe, times int) {
	want, planned := j.Plan.Find(one.Recipe)
	switch {
	case !planned || want.TestedBy != "":
		j.problem("%s was tested although the plan does not ask for it", one.Recipe)
		return
	case times > 1:
		j.problem("%s was tested %d times", one.Recipe, times)
	case one.Verdict == check.Passed && (one.Digest == "" || one.Digest != want.Digest):
		j.problem("%s was tested with different files: digest %.12s, want %.12s", one.Recipe, one.Digest, want.Digest)
	}
	if one.Verdict != check.Passed {
		j.failed = j.failed || one.Verdict == check.Failed
		j.out.Failed = append(j.out.Failed, one)
	}
}

func (j *judge) conclude() {
	out := &j.out
	tests := len(j.Plan.Tests())
	switch {
	case j.failed:
		out.Verdict = check.Failed
	case len(out.Problems) > 0 || len(out.Failed) > 0:
		out.Verdict = check.Unobserved
	case tests == 0:
		out.Verdict = check.NotApplicable
	default:
		out.Verdict = check.Passed
	}
	var parts []string
	if n := len(out.Failed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d recipes did not pass", n, tests))
	}
	if n := len(out.Problems); n > 0 {
		parts = append(parts, fmt.Sprintf("%d problems, first: %s", n, out.Problems[0]))
	}
	switch {
	case len(parts) > 0:
		out.Reason = strings.Join(parts, "; ")
	case tests == 0:
		out.Reason = j.Plan.Reason
	default:
		out.Reason = fmt.Sprintf("%d recipes passed", out.Tested)
		if out.Covered > 0 {
			out.Reason += fmt.Sprintf(", on behalf of %d others", out.Covered)
		}
	}
}
