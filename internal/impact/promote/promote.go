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

// Input is what is known of a commit.
type Input struct {
	Commit string
	// Tree is the directory of its recipes, Recipes what each of them is made of.
	Tree    string
	Recipes map[string]impact.Measured
	// Unusable says why the tree can't be used; empty: it can.
	Unusable string
	// Harness is the digest of its harness, when it is run by a version of firstlight.
	Harness func(version string) string
	Records []record.Record
	Runtime []record.Runtime
	// Require are names of runtime checks that have to be there.
	Require []string
}

// Candidate says whether a commit qualifies.
type Candidate struct {
	Commit    string        `json:"commit"`
	Qualifies bool          `json:"qualifies"`
	Verdict   check.Verdict `json:"verdict"`
	// Reasons are why it does not, all of them.
	Reasons []string `json:"reasons"`
	// Scheduling is the run that counts; Recipes is how many the commit has.
	Scheduling *Run     `json:"scheduling,omitempty"`
	Recipes    int      `json:"recipes"`
	Notes      []string `json:"notes,omitempty"`
	// Runtime are checks on real hardware: of drivers, fabric and speed, of which the
	// scheduling test says nothing.
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

// Judge decides.
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

// scheduling finds the run that counts, the newest that is whole, and what is wrong
// with it. Where none is whole it is the newest.
func (in *Input) scheduling() (counts *record.Run, wrong, notes []string) {
	if in.Unusable != "" {
		wrong = append(wrong, "the recipes of the commit can't be used: "+in.Unusable)
	} else if len(in.Recipes) == 0 {
		wrong = append(wrong, "the commit has no recipe: nothing was tested")
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
		text := "there is no record of tier 3, in which all recipes are tested"
		if len(runs) > 0 {
			text += fmt.Sprintf(": there are records of tiers %v alone", slices.Sorted(maps.Keys(tiers)))
		}
		return nil, append(wrong, text), nil
	}
	i := max(0, slices.IndexFunc(of3, func(r record.Run) bool { return len(r.Missing) == 0 }))
	for k, r := range of3 {
		if k != i {
			notes = append(notes, fmt.Sprintf("another run (%s, %s) came to %s: %s", r.Event, r.When.Format(time.RFC3339), r.Verdict, r.Reason))
		}
	}
	for _, newer := range of3[:i] {
		for _, one := range newer.Recipes {
			if one.Verdict == check.Failed {
				wrong = append(wrong, fmt.Sprintf("%s failed in a newer run (%s, %s), of which shards %s have no record: %s",
					one.Recipe, newer.Event, newer.When.Format(time.RFC3339), numbers(newer.Missing), one.Reason))
			}
		}
	}
	return &of3[i], append(wrong, in.wrongWith(&of3[i])...), notes
}

// wrongWith are all reasons for which a run does not speak for the commit.
func (in *Input) wrongWith(r *record.Run) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Commit != in.Commit {
		add("what was tested is commit %.12s", r.Commit)
	}
	if r.Dirty {
		add("what was tested is not what is committed: the working tree was not clean")
	}
	if want := in.Harness(r.Tool); r.Harness != want {
		add("another harness tested: its digest is %.12s, and the commit's %.12s", r.Harness, want)
	}
	if r.Tree != in.Tree {
		add("the recipes in %s were tested, not those in %s", r.Tree, in.Tree)
	}
	if len(r.Missing) > 0 {
		add("shards %s of %d have no record", numbers(r.Missing), r.Of)
	}
	out = append(out, in.recipes(r)...)
	out = append(out, r.Disagreements()...)
	if r.Verdict != check.Passed && len(out) == 0 {
		add("the run came to %s: %s", r.Verdict, r.Reason)
	}
	return out
}

// recipes holds what was tested against what the commit has.
func (in *Input) recipes(r *record.Run) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	count := map[string]int{}
	for _, one := range r.Recipes {
		if count[one.Recipe]++; count[one.Recipe] > 1 {
			add("%s: was tested twice in one run", one.Recipe)
			continue
		}
		want, there := in.Recipes[one.Recipe]
		switch {
		case !there:
			add("%s: was tested, and the commit does not have it", one.Recipe)
		case one.Verdict != check.Passed:
			add("%s: %s: %s", one.Recipe, one.Verdict, one.Reason)
		case want.Err != nil:
			text, _, _ := strings.Cut(want.Err.Error(), "\n")
			add("%s: is told to have passed, and can't be resolved: %s", one.Recipe, text)
		case one.Digest != want.Digest:
			add("%s: was tested with other files: digest %.12s, not %.12s", one.Recipe, one.Digest, want.Digest)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Recipes)) {
		if count[name] == 0 {
			add("%s: was not tested", name)
		}
	}
	slices.Sort(out)
	return out
}

// runtime are the checks on real hardware that were asked for and are not there. Of
// several of one name the newest counts.
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
			out = append(out, fmt.Sprintf("runtime check %s: there is no record of it", name))
		case newest.Verdict != check.Passed:
			out = append(out, fmt.Sprintf("runtime check %s: %s: %s", name, newest.Verdict, newest.Reason))
		case newest.Simulated:
			out = append(out, fmt.Sprintf("runtime check %s: passed on simulated hardware, which says nothing", name))
		case !newest.Real():
			out = append(out, fmt.Sprintf("runtime check %s: its record does not say on which hardware", name))
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
