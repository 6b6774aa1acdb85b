package record

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
)

// Version of the format.
const Version = 1

// Record is the result of a test, or of one shard of it.
type Record struct {
	Version int `json:"version"`
	// Tool is the version of firstlight that ran the test.
	Tool string `json:"tool"`
	// Commit is the ID of the commit that was checked out; Dirty is set if the working tree
	// differed from it.
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty"`
	// Event and Tier are why these recipes were tested.
	Event impact.Event `json:"event"`
	Tier  int          `json:"tier"`
	// Tree is the recipe directory in the repository.
	Tree string `json:"tree"`
	// Harness is the digest of the code that ran the test.
	Harness string `json:"harness"`
	// Plan is the digest of the plan; empty for a run without a plan.
	Plan string `json:"plan,omitempty"`
	// Shard is the part of the plan; nil: the whole tier.
	Shard *Shard `json:"shard,omitempty"`
	// When the test ended.
	When    time.Time     `json:"when"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	Recipes []Recipe      `json:"recipes"`
}

// Shard is a part of a plan.
type Shard struct {
	ID string `json:"id"`
	// Index counts from 1 to Of.
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Recipe is the result of one recipe.
type Recipe struct {
	Recipe string `json:"recipe"`
	// Digest of the tested inputs; empty if the recipe could not be resolved.
	Digest string `json:"digest"`
	// Fingerprint identifies the recipe's class.
	Fingerprint string        `json:"fingerprint,omitempty"`
	Verdict     check.Verdict `json:"verdict"`
	Reason      string        `json:"reason,omitempty"`
	// StandsFor are the recipes of its class that were not tested themselves.
	StandsFor []string `json:"standsFor,omitempty"`
}

// Check validates the record.
func (r *Record) Check() error {
	switch {
	case r.Version != Version:
		return fmt.Errorf("invalid record: version %d, want %d", r.Version, Version)
	case !isCommit(r.Commit):
		return fmt.Errorf("invalid record: %q is not a commit ID", r.Commit)
	case r.Harness == "" || r.Tree == "":
		return fmt.Errorf("invalid record of %.12s: harness or tree is missing", r.Commit)
	case r.When.IsZero():
		return fmt.Errorf("invalid record of %.12s: time is missing", r.Commit)
	case r.Shard != nil && (r.Shard.Of < 1 || r.Shard.Index < 1 || r.Shard.Index > r.Shard.Of || r.Shard.ID == "" || r.Plan == ""):
		return fmt.Errorf("invalid record of %.12s: shard %d of %d of plan %q", r.Commit, r.Shard.Index, r.Shard.Of, r.Plan)
	}
	if _, err := check.ParseVerdict(string(r.Verdict)); err != nil {
		return fmt.Errorf("invalid record of %.12s: %w", r.Commit, err)
	}
	for _, one := range r.Recipes {
		if _, err := check.ParseVerdict(string(one.Verdict)); err != nil || one.Recipe == "" {
			return fmt.Errorf("invalid record of %.12s: recipe %q has the verdict %q", r.Commit, one.Recipe, one.Verdict)
		}
	}
	return nil
}

// isCommit reports whether the text has the form of a commit ID, and so is a safe directory
// name.
func isCommit(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
