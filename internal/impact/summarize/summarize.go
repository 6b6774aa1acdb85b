package summarize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
)

// Input is what there is when all jobs have ended.
type Input struct {
	// Plan is what had to be tested; PlanDigest what the job that made it says its
	// digest is (empty: not known).
	Plan       *impact.Plan
	PlanDigest string
	// Jobs are the results of the jobs that the summary needs, by name, in GitHub's
	// words: success, failure, cancelled, skipped. nil: not known, so not looked at.
	Jobs map[string]string
	// Records are the results that were found.
	Records []record.Record
}

// Names of the jobs.
const (
	JobPlan = "plan"
	success = "success"
	skipped = "skipped"
)

// JobOf is the name of the job that tests a tier.
func JobOf(level int) string { return fmt.Sprintf("tier%d", level) }

// Summary is what the check says.
type Summary struct {
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	// Tested recipes, and those that they stand for.
	Tested  int `json:"tested"`
	Covered int `json:"covered"`
	// Shards with a result, of those that the plan has.
	Shards   int `json:"shards"`
	OfShards int `json:"ofShards"`
	// Failed recipes with what they came to, and all else that is wrong.
	Failed   []record.Recipe `json:"failed"`
	Problems []string        `json:"problems"`
	Plan     string          `json:"plan"`
}

// Judge holds results against a plan.
func Judge(in Input) Summary {
	j := judge{Input: in, out: Summary{Failed: []record.Recipe{}, Problems: []string{}, OfShards: len(in.Plan.Shards), Plan: in.Plan.Digest}}
	if in.PlanDigest != "" && in.PlanDigest != in.Plan.Digest {
		j.problem("the plan is not the one that the jobs were given: its digest is %.12s, and theirs %.12s", in.Plan.Digest, in.PlanDigest)
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
	failed bool // something was seen to fail
}

func (j *judge) problem(format string, args ...any) {
	j.out.Problems = append(j.out.Problems, fmt.Sprintf(format, args...))
}

// jobs holds what became of the jobs against what they had to do.
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
			j.problem("job %s has work, and is not among those that were waited for", name)
		}
	}
	for name, result := range j.Jobs {
		switch {
		case result == success && work[name] > 0, result == skipped && work[name] == 0:
		case result == skipped:
			j.problem("job %s was skipped, and had work", name)
		case result == success:
			j.problem("job %s succeeded, and had nothing to do: that is no job of this plan", name)
		default:
			j.failed = j.failed || result == "failure"
			j.problem("job %s ended with %q", name, result)
		}
	}
	slices.Sort(j.out.Problems)
}

// shards holds the records against the parts of the plan.
func (j *judge) shards() {
	byID := map[string]int{}
	for _, r := range j.Records {
		id := "without a shard"
		if r.Shard != nil {
			id = r.Shard.ID
		}
		i := slices.IndexFunc(j.Plan.Shards, func(s impact.Shard) bool { return s.ID == id })
		if i < 0 || r.Plan != j.Plan.Digest {
			j.problem("there is a result that the plan does not have: %s of plan %.12s", id, r.Plan)
			continue
		}
		if byID[id]++; byID[id] > 1 {
			j.problem("there are %d results of %s", byID[id], id)
		}
		if wrong := j.foreign(r, j.Plan.Shards[i]); wrong != "" {
			j.problem("the result of %s is of something else: %s", id, wrong)
		}
	}
	for _, s := range j.Plan.Shards {
		if byID[s.ID] == 0 {
			j.problem("there is no result of %s (%d recipes)", s.ID, len(s.Recipes))
			continue
		}
		j.out.Shards++
	}
}

// foreign says in what a record is not of the plan.
func (j *judge) foreign(r record.Record, s impact.Shard) string {
	p := j.Plan
	switch {
	case p.Head.Commit != "" && r.Commit != p.Head.Commit:
		return fmt.Sprintf("of commit %.12s, not %.12s", r.Commit, p.Head.Commit)
	case r.Dirty && !p.Head.Dirty:
		return "of files that are not committed"
	case r.Harness != p.Harness.Digest:
		return fmt.Sprintf("of harness %.12s, not %.12s", r.Harness, p.Harness.Digest)
	case r.Event != p.Event || r.Tier != s.Tier || r.Tree != p.Tree:
		return fmt.Sprintf("of tier %d of %s for %s, not tier %d of %s for %s", r.Tier, r.Tree, r.Event, s.Tier, p.Tree, p.Event)
	default:
		return ""
	}
}

// recipes holds what was tested against what had to be.
func (j *judge) recipes() {
	results := map[string]int{}
	var together record.Record // classes are over shards
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
			j.problem("a shard came to %s: %s", r.Verdict, r.Reason)
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

// recipe holds one result against the plan; times is how often it came so far.
func (j *judge) recipe(one record.Recipe, times int) {
	want, planned := j.Plan.Find(one.Recipe)
	switch {
	case !planned || want.TestedBy != "":
		j.problem("%s was tested, and the plan does not ask for it", one.Recipe)
		return
	case times > 1:
		j.problem("%s was tested %d times", one.Recipe, times)
	case one.Verdict == check.Passed && (one.Digest == "" || one.Digest != want.Digest):
		j.problem("%s was tested with other files: digest %.12s, not %.12s", one.Recipe, one.Digest, want.Digest)
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
			out.Reason += fmt.Sprintf(", and stand for %d others", out.Covered)
		}
	}
}
