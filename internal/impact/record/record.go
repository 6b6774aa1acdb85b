package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
)

// Version of the format.
const Version = 1

// Record is what came of a test, or of one shard of it.
type Record struct {
	Version int `json:"version"`
	// Tool is the version of firstlight that tested.
	Tool string `json:"tool"`
	// Commit was checked out; Dirty says that what was tested is not what it holds.
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty"`
	// Event and Tier are why these recipes.
	Event impact.Event `json:"event"`
	Tier  int          `json:"tier"`
	// Tree is the directory of the recipes in the repository.
	Tree string `json:"tree"`
	// Harness is the digest of the code that tested.
	Harness string `json:"harness"`
	// Plan is the digest of the plan that it is of; empty: of none.
	Plan string `json:"plan,omitempty"`
	// Shard is which part of the plan; nil: all that the record's tier has.
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

// Recipe is what came of one.
type Recipe struct {
	Recipe string `json:"recipe"`
	// Digest of the inputs that were tested; empty when it could not be resolved.
	Digest string `json:"digest"`
	// Fingerprint is the recipe's class.
	Fingerprint string        `json:"fingerprint,omitempty"`
	Verdict     check.Verdict `json:"verdict"`
	Reason      string        `json:"reason,omitempty"`
	// StandsFor are recipes of its class that were not tested themselves.
	StandsFor []string `json:"standsFor,omitempty"`
}

// Class are recipes with one fingerprint.
type Class struct {
	Fingerprint string   `json:"fingerprint"`
	Recipes     []string `json:"recipes"`
}

// Classes groups the recipes that have a fingerprint.
func (r *Record) Classes() []Class {
	members := map[string][]string{}
	for _, one := range r.Recipes {
		if one.Fingerprint != "" {
			members[one.Fingerprint] = append(members[one.Fingerprint], one.Recipe)
		}
	}
	out := []Class{}
	for f, recipes := range members {
		slices.Sort(recipes)
		out = append(out, Class{Fingerprint: f, Recipes: recipes})
	}
	slices.SortFunc(out, func(a, b Class) int { return cmp.Compare(a.Recipes[0], b.Recipes[0]) })
	return out
}

// Check finds what no record can have.
func (r *Record) Check() error {
	switch {
	case r.Version != Version:
		return fmt.Errorf("the record is of version %d, and this firstlight reads version %d", r.Version, Version)
	case !isCommit(r.Commit):
		return fmt.Errorf("the record is of commit %q, which is no commit's id", r.Commit)
	case r.Harness == "" || r.Tree == "":
		return fmt.Errorf("the record of %.12s does not say which harness or which tree", r.Commit)
	case r.When.IsZero():
		return fmt.Errorf("the record of %.12s does not say when", r.Commit)
	case r.Shard != nil && (r.Shard.Of < 1 || r.Shard.Index < 1 || r.Shard.Index > r.Shard.Of || r.Shard.ID == "" || r.Plan == ""):
		return fmt.Errorf("the record of %.12s is of shard %d of %d of plan %q", r.Commit, r.Shard.Index, r.Shard.Of, r.Plan)
	}
	if _, err := check.ParseVerdict(string(r.Verdict)); err != nil {
		return fmt.Errorf("the record of %.12s: %w", r.Commit, err)
	}
	for _, one := range r.Recipes {
		if _, err := check.ParseVerdict(string(one.Verdict)); err != nil || one.Recipe == "" {
			return fmt.Errorf("the record of %.12s: recipe %q: verdict %q", r.Commit, one.Recipe, one.Verdict)
		}
	}
	return nil
}

// isCommit says whether a text can be a commit's id, and so the name of a directory.
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
