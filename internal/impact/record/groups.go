package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Run is one run of a test with its shards joined. If a shard ran more than once, the newest
// record counts.
type Run struct {
	// Record has the common fields of all shards, and the recipes of all.
	Record
	// Of is the number of shards; Missing are the indexes of those without a record.
	Of      int   `json:"of"`
	Missing []int `json:"missing,omitempty"`
}

// runKey has the fields that are equal in all records of a run.
type runKey struct {
	commit, plan, event, tree, harness, tool string
	tier, of                                 int
	dirty                                    bool
}

// Runs joins the records of each run; the newest run is first.
func Runs(records []Record) []Run {
	shards := map[runKey]map[int]Record{}
	var out []Run
	for _, r := range records {
		if r.Shard == nil { // a run without shards
			out = append(out, Run{Record: r, Of: 1})
			continue
		}
		key := runKey{r.Commit, r.Plan, string(r.Event), r.Tree, r.Harness, r.Tool, r.Tier, r.Shard.Of, r.Dirty}
		if shards[key] == nil {
			shards[key] = map[int]Record{}
		}
		if have, there := shards[key][r.Shard.Index]; !there || have.When.Before(r.When) {
			shards[key][r.Shard.Index] = r
		}
	}
	for key, parts := range shards {
		out = append(out, join(key.of, parts))
	}
	slices.SortFunc(out, func(a, b Run) int {
		return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func join(of int, parts map[int]Record) Run {
	run := Run{Of: of}
	var verdicts []check.Verdict
	var reasons []string
	first := true
	for i := 1; i <= of; i++ {
		r, there := parts[i]
		if !there {
			run.Missing = append(run.Missing, i)
			verdicts = append(verdicts, check.Unobserved)
			continue
		}
		recipes, when := append(run.Recipes, r.Recipes...), later(run.When, r.When)
		if first {
			run.Record, first = r, false
		}
		run.Recipes, run.When = recipes, when
		verdicts = append(verdicts, r.Verdict)
		if r.Verdict != check.Passed {
			reasons = append(reasons, r.Shard.ID+": "+r.Reason)
		}
	}
	run.Shard = nil
	run.Verdict = check.Overall(verdicts)
	if len(run.Missing) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d of %d shards have no record", len(run.Missing), of))
	}
	run.Reason = strings.Join(reasons, "; ")
	if run.Verdict == check.Passed {
		run.Reason = fmt.Sprintf("%d recipes passed", len(run.Recipes))
	}
	return run
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Disagreements describes the classes whose members have different verdicts.
func (r *Record) Disagreements() []string {
	verdicts := map[string]check.Verdict{}
	var members []schedule.Member
	for _, one := range r.Recipes {
		verdicts[one.Recipe] = one.Verdict
		members = append(members, schedule.Member{Recipe: one.Recipe, Fingerprint: one.Fingerprint})
	}
	var out []string
	for _, d := range schedule.Disagreements(schedule.ClassesOf(members), verdicts) {
		out = append(out, d.String())
	}
	return out
}
