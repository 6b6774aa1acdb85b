package impact

import (
	"fmt"
	"slices"
	"strings"
)

// MaxJobs is GitHub's limit for the jobs of a matrix:
// https://docs.github.com/en/actions/reference/limits.
const MaxJobs = 256

// DefaultPerShard is the number of recipes that one control plane tests (firstlight recipe test
// --per-plane). Shards are larger if there would be more than MaxJobs.
const DefaultPerShard = 256

// Shard is a part of the tests of a tier.
type Shard struct {
	// ID is unique in the plan, for example tier2-1-of-3. Name is for display: 1/3.
	ID   string `json:"id"`
	Name string `json:"shard"`
	Tier int    `json:"tier"`
	// Index counts from 1 to Of.
	Index   int      `json:"index"`
	Of      int      `json:"of"`
	Recipes []string `json:"recipes"`
}

// shards splits the tests of each tier into parts whose sizes differ by at most one.
func shards(tests []Selected, perShard int) []Shard {
	out := []Shard{}
	byTier := map[int][]string{}
	for _, t := range tests {
		byTier[t.Tier] = append(byTier[t.Tier], t.Recipe)
	}
	for tier := range All + 1 {
		recipes := byTier[tier]
		if len(recipes) == 0 {
			continue
		}
		n := min((len(recipes)+perShard-1)/perShard, MaxJobs)
		for i := range n {
			out = append(out, Shard{
				ID: fmt.Sprintf("tier%d-%d-of-%d", tier, i+1, n), Name: fmt.Sprintf("%d/%d", i+1, n), Tier: tier, Index: i + 1, Of: n,
				Recipes: slices.Clone(recipes[i*len(recipes)/n : (i+1)*len(recipes)/n]),
			})
		}
	}
	return out
}

// Part returns a shard by its ID.
func (p *Plan) Part(id string) (Shard, error) {
	var there []string
	for _, s := range p.Shards {
		if s.ID == id {
			return s, nil
		}
		there = append(there, s.ID)
	}
	if len(there) == 0 {
		return Shard{}, fmt.Errorf("unknown shard %q: the plan has none (%s)", id, p.Reason)
	}
	return Shard{}, fmt.Errorf("unknown shard %q: want one of %s", id, strings.Join(there, ", "))
}
