package impact

import "slices"

// Plan is which recipes are tested, and why.
type Plan struct {
	Event Event `json:"event"`
	// Tree is the directory of the recipes in the repository.
	Tree string `json:"tree"`
	// Base and Head are the two states; Base is empty when nothing was compared.
	Base Revision `json:"base"`
	Head Revision `json:"head"`
	// HasWork says that there is something to test; Reason says in one line what, or
	// why there is nothing.
	HasWork bool   `json:"hasWork"`
	Reason  string `json:"reason"`
	// Everything says why all recipes are selected, when the change can't be judged.
	Everything string  `json:"everything,omitempty"`
	Harness    Harness `json:"harness"`
	// Recipes are those selected, by tier and name.
	Recipes []Selected `json:"recipes"`
	// Removed are recipes that are not there any more.
	Removed []string `json:"removed,omitempty"`
	// Total is how many recipes there are, NotSelected how many of them are left out.
	Total       int `json:"total"`
	NotSelected int `json:"notSelected"`
	// Shards are the tests, in parts that can be run side by side.
	Shards []Shard  `json:"shards"`
	Notes  []string `json:"notes,omitempty"`
	// Digest is of all that is selected: results are held against it.
	Digest string `json:"digest"`
}

// Revision is one of the two states.
type Revision struct {
	// Name is what was asked for.
	Name string `json:"name,omitempty"`
	// Commit is its id; empty of what lies on disk.
	Commit string `json:"commit,omitempty"`
	// Dirty says that what lies on disk is not what is committed.
	Dirty bool `json:"dirty,omitempty"`
}

// Selected is a recipe that is tested, or that another of its class stands for.
type Selected struct {
	Recipe string `json:"recipe"`
	Tier   int    `json:"tier"`
	// Digest of its inputs; empty when it can't be resolved.
	Digest  string   `json:"digest,omitempty"`
	Reasons []Reason `json:"reasons"`
	// TestedBy is the recipe of its class that is tested in its stead.
	TestedBy string `json:"testedBy,omitempty"`
	// StandsFor are the other recipes of its class that are selected.
	StandsFor []string `json:"standsFor,omitempty"`
}

// Tests are the selected recipes that are tested themselves.
func (p *Plan) Tests() []Selected {
	return slices.DeleteFunc(slices.Clone(p.Recipes), func(s Selected) bool { return s.TestedBy != "" })
}

// Find is a recipe of the plan.
func (p *Plan) Find(recipe string) (Selected, bool) {
	i := slices.IndexFunc(p.Recipes, func(s Selected) bool { return s.Recipe == recipe })
	if i < 0 {
		return Selected{}, false
	}
	return p.Recipes[i], true
}

// ComputeDigest is what Digest has to be.
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
