package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Class is a set of recipes with equal fingerprints: the scheduler cannot tell them apart.
type Class struct {
	Fingerprint string `json:"fingerprint"`
	// Representative has the shortest name; of several, the first in order.
	Representative string `json:"representative"`
	// Members by name, including the representative.
	Members []string `json:"members"`
}

// Member is a recipe with its fingerprint, which is empty for a recipe without a scenario.
type Member struct {
	Recipe      string `json:"recipe"`
	Fingerprint string `json:"fingerprint"`
}

// Groups groups recipes by fingerprint, in the order of their first members. The names of a
// group are ordered, shortest first. A recipe without a fingerprint is its own group.
func Groups(members []Member) [][]string {
	var out [][]string
	at := map[string]int{}
	for _, m := range members {
		i, known := at[m.Fingerprint]
		if m.Fingerprint == "" || !known {
			at[m.Fingerprint] = len(out)
			out = append(out, []string{m.Recipe})
			continue
		}
		out[i] = append(out[i], m.Recipe)
	}
	for _, names := range out {
		slices.SortFunc(names, shorter)
	}
	return out
}

func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// ClassesOf lists the classes of recipes, ordered by representative. It omits recipes without
// a fingerprint.
func ClassesOf(members []Member) []Class {
	members = slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Fingerprint == "" })
	fingerprints := map[string]string{}
	for _, m := range members {
		fingerprints[m.Recipe] = m.Fingerprint
	}
	var out []Class
	for _, names := range Groups(members) {
		c := Class{Fingerprint: fingerprints[names[0]], Representative: names[0], Members: names}
		slices.Sort(c.Members)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Representative, b.Representative), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return out
}

// Disagreement is a class whose members have different verdicts or lack one: either
// the fingerprint misses a fact that the scheduler reads, or the test is not repeatable.
type Disagreement struct {
	Class
	// Verdicts lists the members by verdict.
	Verdicts map[check.Verdict][]string `json:"verdicts"`
	// Missing are members without a verdict.
	Missing []string `json:"missing,omitempty"`
}

// String lists the members by verdict.
func (d Disagreement) String() string {
	var parts []string
	for _, v := range []check.Verdict{check.Passed, check.Failed, check.Unobserved, check.Blocked, check.NotApplicable} {
		if names := d.Verdicts[v]; len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(names, ", "), v))
		}
	}
	if len(d.Missing) > 0 {
		parts = append(parts, strings.Join(d.Missing, ", ")+" without a verdict")
	}
	return fmt.Sprintf("class of %s (%.12s): %s", d.Representative, d.Fingerprint, strings.Join(parts, "; "))
}

// Disagreements lists the classes whose members disagree or lack a verdict.
func Disagreements(classes []Class, verdicts map[string]check.Verdict) []Disagreement {
	var out []Disagreement
	for _, c := range classes {
		d := Disagreement{Class: c, Verdicts: map[check.Verdict][]string{}}
		for _, name := range c.Members {
			if v, ok := verdicts[name]; ok {
				d.Verdicts[v] = append(d.Verdicts[v], name)
			} else {
				d.Missing = append(d.Missing, name)
			}
		}
		if len(d.Verdicts) > 1 || len(d.Missing) > 0 {
			for _, names := range d.Verdicts {
				slices.Sort(names)
			}
			out = append(out, d)
		}
	}
	return out
}

// Audit fails the report where recipes of one class have different verdicts.
func (r *Report) Audit() {
	verdicts := map[string]check.Verdict{}
	var members []Member
	for _, res := range r.Recipes {
		verdicts[res.Recipe] = res.Verdict
		members = append(members, Member{res.Recipe, res.Fingerprint})
	}
	var reasons []string
	for _, d := range Disagreements(ClassesOf(members), verdicts) {
		reasons = append(reasons, d.String())
	}
	if len(reasons) > 0 {
		r.Verdict = check.Failed
		r.Reason += "; " + some(reasons)
	}
}

// Saving is the number of tests that a tier needs for its recipes.
type Saving struct {
	Tier    int `json:"tier"`
	Recipes int `json:"recipes"`
	Tests   int `json:"tests"`
}

// Savings lists the tiers for a change that affects every recipe. Tier 1 tests one recipe
// of each class that has a generic member, tier 2 one of every other class, tier 3 all.
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
