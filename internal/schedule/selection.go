package schedule

import (
	"fmt"
)

// Selection is the recipes to test and the recipes that their results stand for.
type Selection struct {
	// Tier that selected the recipes; 0 where they were named.
	Tier int
	// Cases to test, in order.
	Cases []Case
	// StandsFor maps a tested recipe to the untested recipes of its class.
	StandsFor map[string][]string
	// Audit reports whether every member of a class is tested and all must agree.
	Audit bool
}

// Each selects every case; tier 3 also audits the classes.
func Each(tier int, cases []Case) Selection {
	return Selection{Tier: tier, Cases: cases, Audit: tier == 3}
}

// OnePerClass selects the case with the shortest name of each class, and every case that
// has no cell.
func OnePerClass(tier int, cases []Case) Selection {
	out := Selection{Tier: tier, StandsFor: map[string][]string{}}
	for _, members := range GroupByClass(cases) {
		out.Cases = append(out.Cases, members[0])
		for _, m := range members[1:] {
			out.StandsFor[members[0].Recipe] = append(out.StandsFor[members[0].Recipe], m.Recipe)
		}
	}
	return out
}

// Names of the selected recipes, in order.
func (s Selection) Names() []string {
	var out []string
	for _, c := range s.Cases {
		out = append(out, c.Recipe)
	}
	return out
}

// Case returns the selected case of a recipe.
func (s Selection) Case(name string) (Case, error) {
	for _, c := range s.Cases {
		if c.Recipe == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("recipe %s is not selected", name)
}

// Shard returns part i of n; every case is in exactly one part.
func (s Selection) Shard(i, n int) Selection {
	out := s
	out.Cases = nil
	for k, c := range s.Cases {
		if k%n == i {
			out.Cases = append(out.Cases, c)
		}
	}
	return out
}

// Report builds the report of a test of the selection.
func (s Selection) Report(tree string, o Outcome) Report {
	r := Report{Tree: tree, Tier: s.Tier, Run: o.Run, Notes: o.Notes, StartSeconds: o.Starting.Seconds(), Recipes: []Result{}}
	if o.Evidence != "" {
		r.Evidence = []string{o.Evidence}
	}
	fingerprints := map[string]string{}
	for _, c := range s.Cases {
		fingerprints[c.Recipe] = c.Fingerprint
	}
	for i, res := range o.Results {
		row := ResultOf(res)
		row.Fingerprint, row.StandsFor = fingerprints[res.Step], s.StandsFor[res.Step]
		r.Recipes = append(r.Recipes, row)
		if end := res.At; i == 0 || !end.IsZero() {
			r.Seconds = max(r.Seconds, end.Sub(o.Began).Seconds())
		}
	}
	r.Conclude(s.Names())
	if s.Audit {
		r.Audit()
	}
	return r
}
