package promote

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
)

// Input has the data of a commit.
type Input struct {
	Commit string
	// Tree is the recipe directory, Recipes the recipes with their inputs.
	Tree    string
	Recipes map[string]impact.Measured
	// Unusable is the reason why the tree is invalid; empty if it is valid.
	Unusable string
	// Tool is the version of firstlight that must have run the test; empty if the harness has
	// firstlight's code. BuiltFrom then returns the digest of the harness that a version was
	// built from.
	Tool      string
	BuiltFrom func(version string) (string, error)
	// Harness returns the digest of the commit's harness when run by a version of firstlight.
	Harness func(version string) string
	Records []record.Record
	Runtime []record.Runtime
	// Require are the names of required runtime checks.
	Require []string
}

// Candidate is the decision about a commit.
type Candidate struct {
	Commit    string        `json:"commit"`
	Qualifies bool          `json:"qualifies"`
	Verdict   check.Verdict `json:"verdict"`
	// Reasons are all reasons why the commit does not qualify.
	Reasons []string `json:"reasons"`
	// Scheduling is the run that counts; Recipes is the number of recipes of the commit.
	Scheduling *Run     `json:"scheduling,omitempty"`
	Recipes    int      `json:"recipes"`
	Notes      []string `json:"notes,omitempty"`
	// Runtime are checks of drivers, fabric and performance on real hardware, which the
	// scheduling test does not cover.
	Runtime []record.Runtime `json:"runtime"`
}

// Run is a run of tier 3.
type Run struct {
	Event   impact.Event  `json:"event"`
	When    time.Time     `json:"when"`
	Tool    string        `json:"tool"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	Shards  int           `json:"shards"`
}

// Judge decides whether a commit qualifies, from its records alone.
func Judge(in Input) Candidate {
	out := Candidate{Commit: in.Commit, Recipes: len(in.Recipes), Reasons: []string{}, Runtime: in.Runtime}
	if in.Runtime == nil {
		out.Runtime = []record.Runtime{}
	}
	run, wrong, notes := in.scheduling()
	out.Notes, out.Reasons = notes, append(out.Reasons, wrong...)
	if run != nil {
		out.Scheduling = &Run{Event: run.Event, When: run.When, Tool: run.Tool, Verdict: run.Verdict, Reason: run.Reason, Shards: run.Of}
	}
	out.Reasons = append(out.Reasons, in.runtime()...)
	out.Qualifies = len(out.Reasons) == 0
	switch {
	case out.Qualifies:
		out.Verdict = check.Passed
	case run == nil && in.Unusable == "":
		out.Verdict = check.Unobserved
	default:
		out.Verdict = check.Failed
	}
	return out
}

// scheduling returns the run that counts and the reasons against it. That is the newest
// complete run or else the newest run.
func (in *Input) scheduling() (counts *record.Run, wrong, notes []string) {
	if in.Unusable != "" {
		wrong = append(wrong, "the recipe tree of the commit is invalid: "+in.Unusable)
	} else if len(in.Recipes) == 0 {
		wrong = append(wrong, "the commit has no recipes: nothing was tested")
	}
	runs := record.Runs(in.Records)
	tiers := map[int]bool{}
	var of3 []record.Run
	for _, r := range runs {
		if tiers[r.Tier] = true; r.Tier == impact.All {
			of3 = append(of3, r)
		}
	}
	if len(of3) == 0 {
		text := "no record of tier 3, which tests all recipes"
		if len(runs) > 0 {
			text += fmt.Sprintf("; found only records of tiers %v", slices.Sorted(maps.Keys(tiers)))
		}
		return nil, append(wrong, text), nil
	}
	i := max(0, slices.IndexFunc(of3, func(r record.Run) bool { return len(r.Missing) == 0 }))
	for k, r := range of3 {
		if k != i {
			notes = append(notes, fmt.Sprintf("another run (%s, %s) has the verdict %s: %s", r.Event, r.When.Format(time.RFC3339), r.Verdict, r.Reason))
		}
	}
	for _, newer := range of3[:i] {
		for _, one := range newer.Recipes {
			if one.Verdict == check.Failed {
				wrong = append(wrong, fmt.Sprintf("%s failed in a newer run (%s, %s) without records of the shards %s: %s",
					one.Recipe, newer.Event, newer.When.Format(time.RFC3339), numbers(newer.Missing), one.Reason))
			}
		}
	}
	return &of3[i], append(wrong, in.wrongWith(&of3[i])...), notes
}

func (in *Input) wrongWith(r *record.Run) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Commit != in.Commit {
		add("tested another commit: %.12s", r.Commit)
	}
	if r.Dirty {
		add("tested uncommitted changes: the working tree was not clean")
	}
	if want := in.Harness(r.Tool); r.Harness != want {
		add("tested with another harness: digest %.12s, the commit's is %.12s", r.Harness, want)
	}
	if in.Tool != "" && r.Tool != in.Tool {
		add("tested by firstlight %s, this is %s: its checks may differ; test again, or use the same version", r.Tool, in.Tool)
	}
	if in.BuiltFrom != nil {
		if built, err := in.BuiltFrom(r.Tool); err != nil {
			add("tested by firstlight %s, whose source is unknown: %s", r.Tool, err)
		} else if built != r.Harness {
			add("tested by firstlight %s, which was built from another harness: digest %.12s, the commit's is %.12s", r.Tool, built, r.Harness)
		}
	}
	if r.Tree != in.Tree {
		add("tested the recipes in %s instead of %s", r.Tree, in.Tree)
	}
	if len(r.Missing) > 0 {
		add("shards %s of %d have no record", numbers(r.Missing), r.Of)
	}
	out = append(out, in.recipes(r)...)
	out = append(out, r.Disagreements()...)
	if r.Verdict != check.Passed && len(out) == 0 {
		add("the run has the verdict %s: %s", r.Verdict, r.Reason)
	}
	return out
}

// recipes compares the tested recipes with those of the commit.
func (in *Input) recipes(r *record.Run) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	count := map[string]int{}
	for _, one := range r.Recipes {
		if count[one.Recipe]++; count[one.Recipe] > 1 {
			add("%s: tested twice in one run", one.Recipe)
			continue
		}
		want, there := in.Recipes[one.Recipe]
		switch {
		case !there:
			add("%s: tested but not in the commit", one.Recipe)
		case one.Verdict != check.Passed:
			add("%s: %s: %s", one.Recipe, one.Verdict, one.Reason)
		case want.Err != nil:
			text, _, _ := strings.Cut(want.Err.Error(), "\n")
			add("%s: recorded as passed but cannot be resolved: %s", one.Recipe, text)
		case one.Digest != want.Digest:
			add("%s: tested with different files: digest %.12s, want %.12s", one.Recipe, one.Digest, want.Digest)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Recipes)) {
		if count[name] == 0 {
			add("%s: not tested", name)
		}
	}
	slices.Sort(out)
	return out
}

// runtime returns the reasons against the required checks on real hardware. The newest record
// of a name counts.
func (in *Input) runtime() []string {
	var out []string
	for _, name := range in.Require {
		var newest *record.Runtime
		for i := range in.Runtime {
			if r := &in.Runtime[i]; r.Name == name && (newest == nil || !r.When.Before(newest.When)) {
				newest = r
			}
		}
		switch {
		case newest == nil:
			out = append(out, fmt.Sprintf("runtime check %s: no record found", name))
		case newest.Verdict != check.Passed:
			out = append(out, fmt.Sprintf("runtime check %s: %s: %s", name, newest.Verdict, newest.Reason))
		case newest.Simulated:
			out = append(out, fmt.Sprintf("runtime check %s: passed on simulated hardware, which does not count", name))
		case !newest.Real():
			out = append(out, fmt.Sprintf("runtime check %s: record does not name the hardware", name))
		}
	}
	return out
}

func numbers(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ", ")
}
