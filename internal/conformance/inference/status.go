package inference

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// problem is why a Gateway cannot receive requests; empty when it can.
func (g gateway) problem() string {
	for _, kind := range []string{"Accepted", "Programmed"} {
		if c := g.Conditions.of(kind); !c.is(metav1.ConditionTrue, g.Generation) {
			return "it is not " + kind + ": " + c.text(g.Generation)
		}
	}
	if len(g.Addresses) == 0 {
		return "it is Programmed but has no address"
	}
	return ""
}

// terminal reports whether a current condition is False for a terminal reason.
func (g gateway) terminal(reasons []string) bool {
	for _, kind := range []string{"Accepted", "Programmed"} {
		c := g.Conditions.of(kind)
		if c.is(metav1.ConditionFalse, g.Generation) && slices.Contains(reasons, c.Reason) {
			return true
		}
	}
	return false
}

// problem is how the route's status deviates from the expected one; resolved is whether its
// backends exist.
func (r route) problem(resolved bool) string {
	if r.Controller == "" {
		return "the class's controller sets no status"
	}
	if c := r.Conditions.of("Accepted"); !c.is(metav1.ConditionTrue, r.Generation) {
		return "it is not Accepted: " + c.text(r.Generation)
	}
	c := r.Conditions.of("ResolvedRefs")
	switch {
	case resolved && !c.is(metav1.ConditionTrue, r.Generation):
		return "its backends are not resolved: " + c.text(r.Generation)
	case !resolved && !c.is(metav1.ConditionFalse, r.Generation):
		return "its Service does not exist, but ResolvedRefs is not False: " + c.text(r.Generation)
	case !resolved && c.Reason != "BackendNotFound":
		return "its Service does not exist, but the reason is not BackendNotFound: " + c.text(r.Generation)
	}
	return ""
}

func (c condition) text(generation int64) string {
	switch {
	case c.Status == "":
		return "no condition " + c.Type
	case !c.current(generation):
		return fmt.Sprintf("condition %s is of generation %d, the object of %d", c.Type, c.Observed, generation)
	}
	text := c.Type + " is " + c.Status + ", " + c.Reason
	if c.Message != "" {
		text += " (" + c.Message + ")"
	}
	return text
}
