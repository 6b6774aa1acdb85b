package schedule

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// Selection is which recipes are tested, and for which others they stand.
type Selection struct {
	// Tier is why; 0: they were named.
	Tier int
	// Cases to test, in order.
	Cases []Case
	// StandsFor are the recipes of a tested one's class that are not tested themselves.
	StandsFor map[string][]string
	// Audit: every member of a class is tested, and they have to agree.
	Audit bool
}

// Each tests every case, and audits the classes.
func Each(tier int, cases []Case) Selection {
	return Selection{Tier: tier, Cases: cases, Audit: tier == 3}
}

// OnePerClass tests one case of each class: the one with the shortest name. One
// that no cell can be made of stands for itself.
func OnePerClass(tier int, cases []Case) Selection {
	out := Selection{Tier: tier, StandsFor: map[string][]string{}}
	for _, members := range Classes(cases) {
		out.Cases = append(out.Cases, members[0])
		for _, m := range members[1:] {
			out.StandsFor[members[0].Recipe] = append(out.StandsFor[members[0].Recipe], m.Recipe)
		}
	}
	return out
}

// Classes groups cases by fingerprint, in the order of their first members; a
// class's own begin with the shortest name.
func Classes(cases []Case) [][]Case {
	var out [][]Case
	at := map[string]int{}
	for _, c := range cases {
		i, known := at[c.Fingerprint]
		if c.Fingerprint == "" || !known {
			at[c.Fingerprint] = len(out)
			out = append(out, []Case{c})
			continue
		}
		out[i] = append(out[i], c)
	}
	for _, members := range out {
		slices.SortStableFunc(members, func(a, b Case) int {
			if d := len(a.Recipe) - len(b.Recipe); d != 0 {
				return d
			}
			if a.Recipe < b.Recipe {
				return -1
			}
			return 1
		})
	}
	return out
}

// Names of the recipes that are tested, in order.
func (s Selection) Names() []string {
	var out []string
	for _, c := range s.Cases {
		out = append(out, c.Recipe)
	}
	return out
}

// Case finds one by its name.
func (s Selection) Case(name string) (Case, error) {
	for _, c := range s.Cases {
		if c.Recipe == name {
			return c, nil
		}
	}
	return Case{}, fmt.Errorf("recipe %s is not among those chosen", name)
}

// Shard is the i-th of n parts; together they are the whole, none twice.
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

// Report makes the report of a test of the selection.
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
		r.audit()
	}
	return r
}

// audit fails a report in which recipes of one class came to different verdicts:
// then the scheduler sees something that the fingerprint does not have.
func (r *Report) audit() {
	first := map[string]Result{}
	for _, res := range r.Recipes {
		if res.Fingerprint == "" {
			continue
		}
		was, ok := first[res.Fingerprint]
		if !ok {
			first[res.Fingerprint] = res
			continue
		}
		if was.Verdict != res.Verdict {
			r.Verdict = check.Failed
			r.Reason += fmt.Sprintf("; %s and %s are one class (%.12s), and came to %s and %s", was.Recipe, res.Recipe, res.Fingerprint, was.Verdict, res.Verdict)
		}
	}
}
