package impact

import "slices"

// Plan lists the recipes to test, with reasons.
type Plan struct {
	Event Event `json:"event"`
	// Tree is the recipe directory in the repository.
	Tree string `json:"tree"`
	// Base and Head are the compared states; Base is empty if nothing was compared.
	Base Revision `json:"base"`
	Head Revision `json:"head"`
	// HasWork is true if there is something to test. Reason summarizes the plan in one line.
	HasWork bool   `json:"hasWork"`
	Reason  string `json:"reason"`
	// Everything is the reason why all recipes are selected although the event does not require
	// it.
	Everything string  `json:"everything,omitempty"`
	Harness    Harness `json:"harness"`
	// Recipes are the selected recipes, by tier and name.
	Recipes []Selected `json:"recipes"`
	// Removed are the deleted recipes.
	Removed []string `json:"removed,omitempty"`
	// Total counts the recipes of the tree, NotSelected those of them that are not selected.
	Total       int `json:"total"`
	NotSelected int `json:"notSelected"`
	// Shards split the tests into parts that can run in parallel.
	Shards []Shard  `json:"shards"`
	Notes  []string `json:"notes,omitempty"`
	// Digest covers the selection; results must have the same.
	Digest string `json:"digest"`
}

// Revision is the state before or after the change.
type Revision struct {
	// Name as given by the user.
	Name string `json:"name,omitempty"`
	// Commit is the full ID; empty for the working tree.
	Commit string `json:"commit,omitempty"`
	// Dirty is set if the working tree differs from the commit.
	Dirty bool `json:"dirty,omitempty"`
}

// Selected is a recipe of the plan.
type Selected struct {
	Recipe string `json:"recipe"`
	Tier   int    `json:"tier"`
	// Digest of its inputs; empty if it cannot be resolved.
	Digest  string   `json:"digest,omitempty"`
	Reasons []Reason `json:"reasons"`
	// TestedBy is the recipe of the same class that is tested instead; empty if the recipe is
	// tested itself.
	TestedBy string `json:"testedBy,omitempty"`
	// StandsFor are the other selected recipes of its class.
	StandsFor []string `json:"standsFor,omitempty"`
}

// Tests returns the selected recipes that are tested themselves.
func (p *Plan) Tests() []Selected {
	return slices.DeleteFunc(slices.Clone(p.Recipes), func(s Selected) bool { return s.TestedBy != "" })
}

// Find returns a selected recipe by name.
func (p *Plan) Find(recipe string) (Selected, bool) {
	i := slices.IndexFunc(p.Recipes, func(s Selected) bool { return s.Recipe == recipe })
	if i < 0 {
		return Selected{}, false
	}
	return p.Recipes[i], true
}

// ComputeDigest computes the value of Digest.
func (p *Plan) ComputeDigest() string {
	h := newHasher()
	h.line(string(p.Event), p.Tree, p.Head.Commit, p.Harness.Digest)
	for _, s := range p.Recipes {
		h.line(s.Recipe, string(rune('0'+s.Tier)), s.Digest, s.TestedBy)
	}
	for _, s := range p.Shards {
		h.line(append([]string{s.ID}, s.Recipes...)...)
	}
	return h.sum()
}
