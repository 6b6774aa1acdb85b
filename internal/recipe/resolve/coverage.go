package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Uncovered is a criterion of a query that no matching overlay has.
type Uncovered struct {
	Dimension criteria.Dimension `json:"dimension"`
	Value     string             `json:"value"`
	// Available are the values of the dimension in overlays that agree with the rest of the
	// query.
	Available []string `json:"available"`
	// Recipes have the requested value; those that agree with more of the query come first.
	Recipes []string `json:"recipes"`
	// Excluded are overlays with the value that were excluded by the snapshot.
	Excluded []string `json:"excluded,omitempty"`
}

// CoverageError means that criteria of a query have no effect.
type CoverageError struct {
	Query     criteria.Criteria `json:"query"`
	Uncovered []Uncovered       `json:"uncovered"`
}

// Error lists the uncovered criteria with alternatives.
func (e *CoverageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no recipe for %s", e.Query)
	for _, u := range e.Uncovered {
		fmt.Fprintf(&b, "\n%s=%s has no effect: no matching overlay has it", u.Dimension, u.Value)
		if len(u.Excluded) > 0 {
			fmt.Fprintf(&b, "\n    excluded by the snapshot: %s", strings.Join(u.Excluded, ", "))
		}
		if len(u.Available) > 0 {
			fmt.Fprintf(&b, "\n    %s available with the other criteria: %s", u.Dimension, strings.Join(u.Available, ", "))
		}
		if len(u.Recipes) > 0 {
			fmt.Fprintf(&b, "\n    %s=%s is available in: %s", u.Dimension, u.Value, strings.Join(u.Recipes, "; "))
		}
	}
	return b.String()
}

// covered requires that each criterion of the query is in a matching overlay.
func covered(t *tree.Tree, q criteria.Criteria, kept []*tree.Overlay, e *exclusion) error {
	carried := map[criteria.Dimension]bool{}
	for _, o := range kept {
		for _, d := range o.Criteria.Stated() {
			carried[d] = true
		}
	}
	var open []criteria.Dimension
	for _, d := range q.Stated() {
		if !carried[d] {
			open = append(open, d)
		}
	}
	if len(open) == 0 {
		return nil
	}
	rest := q
	for _, d := range open {
		rest = rest.Without(d)
	}
	err := &CoverageError{Query: q}
	for _, d := range open {
		err.Uncovered = append(err.Uncovered, uncovered(t, q, rest, d, e))
	}
	return err
}

const maxNamed = 5 // recipes that a message lists

func uncovered(t *tree.Tree, q, rest criteria.Criteria, d criteria.Dimension, e *exclusion) Uncovered {
	u := Uncovered{Dimension: d, Value: q.Get(d), Available: []string{}, Recipes: []string{}}
	var carriers []*tree.Overlay
	for _, o := range t.Overlays {
		value := o.Criteria.Get(d)
		if value == "" {
			continue
		}
		if value != u.Value {
			if o.Criteria.Contradicts(rest) == "" {
				u.Available = append(u.Available, value)
			}
			continue
		}
		if e.has(o) {
			u.Excluded = append(u.Excluded, o.Name+" ("+e.why[o]+")")
		} else {
			carriers = append(carriers, o)
		}
	}
	slices.Sort(u.Available)
	u.Available = slices.Compact(u.Available)
	slices.SortStableFunc(carriers, func(a, b *tree.Overlay) int { return missing(a.Criteria, q) - missing(b.Criteria, q) })
	for _, o := range carriers[:min(len(carriers), maxNamed)] {
		u.Recipes = append(u.Recipes, o.Criteria.String())
	}
	return u
}

// missing is the distance of an overlay's criteria from the query.
func missing(c, q criteria.Criteria) int {
	n := 0
	for _, d := range c.Stated() {
		switch q.Get(d) {
		case c.Get(d):
		case "":
			n++
		default:
			n += 2 // changing a criterion costs more than adding one
		}
	}
	return n
}
