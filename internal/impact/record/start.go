package record

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
)

// Start has the fields of a record that are known before a test. It is computed from the files
// at that time, so that files written during the test do not count.
type Start struct {
	Tool     string
	Commit   string
	Dirty    bool
	Event    impact.Event
	Tier     int
	Tree     string
	Harness  string
	Plan     string
	Shard    *Shard
	Measured map[string]impact.Measured
}

// End returns the record of the finished test and adds the digests of the recipes.
func (s *Start) End(when time.Time, verdict check.Verdict, reason string, recipes []Recipe) Record {
	r := Record{
		Version: Version, Tool: s.Tool, Commit: s.Commit, Dirty: s.Dirty, Event: s.Event, Tier: s.Tier, Tree: s.Tree,
		Harness: s.Harness, Plan: s.Plan, Shard: s.Shard, When: when.UTC(), Verdict: verdict, Reason: reason, Recipes: []Recipe{},
	}
	for _, one := range recipes {
		one.Digest = s.Measured[one.Recipe].Digest
		r.Recipes = append(r.Recipes, one)
	}
	return r
}
