package impact

import (
	"fmt"
	"slices"
	"strings"
)

// MaxJobs is how many jobs a matrix may have: GitHub's limit,
// https://docs.github.com/en/actions/reference/limits.
const MaxJobs = 256

// PerShard is how many recipes a shard has, as long as there are no more than MaxJobs
// shards: what one control plane takes (firstlight recipe test --per-plane).
const PerShard = 256

// Shard is a part of a tier's tests.
type Shard struct {
	// ID names it in one word: tier2-1-of-3. Name is for people: 1/3.
	ID   string `json:"id"`
	Name string `json:"shard"`
	Tier int    `json:"tier"`
	// Index counts from 1 to Of.
	Index   int      `json:"index"`
	Of      int      `json:"of"`
	Recipes []string `json:"recipes"`
}

// shards cuts the tests of each tier into parts whose sizes differ by one at most.
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

// Part finds a shard by its ID.
func (p *Plan) Part(id string) (Shard, error) {
	var there []string
	for _, s := range p.Shards {
		if s.ID == id {
			return s, nil
		}
		there = append(there, s.ID)
	}
	if len(there) == 0 {
		return Shard{}, fmt.Errorf("the plan has no part %q: it has none at all (%s)", id, p.Reason)
	}
	return Shard{}, fmt.Errorf("the plan has no part %q: there are %s", id, strings.Join(there, ", "))
}
