package class

// Saving is how many tests a tier takes for how many recipes.
type Saving struct {
	Tier    int `json:"tier"`
	Recipes int `json:"recipes"`
	Tests   int `json:"tests"`
}

// Savings are those of the tiers, where a change affects everything: tier 1 tests
// the generic recipes, tier 2 the others, each one of a class, and no class twice;
// tier 3 tests all.
func Savings(classes []Class, generic func(recipe string) bool) []Saving {
	one, two, all := Saving{Tier: 1}, Saving{Tier: 2}, Saving{Tier: 3}
	for _, c := range classes {
		in := 0
		for _, m := range c.Members {
			if generic(m) {
				in++
			}
		}
		one.Recipes += in
		two.Recipes += len(c.Members) - in
		all.Recipes += len(c.Members)
		all.Tests += len(c.Members)
		if in > 0 {
			one.Tests++
		} else {
			two.Tests++
		}
	}
	return []Saving{one, two, all}
}
