package inference

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wrong is what keeps a Gateway from being one that requests can go to; empty when
// nothing does.
func (g gateway) wrong() string {
	for _, kind := range []string{"Accepted", "Programmed"} {
		if c := g.Conditions.of(kind); !c.is(metav1.ConditionTrue, g.Generation) {
			return "it is not " + kind + ": " + c.text(g.Generation)
		}
	}
	if len(g.Addresses) == 0 {
		return "it is Programmed and has no address"
	}
	return ""
}

// never: it says for a terminal reason, of the object as it is now, that it is not one
// that requests can go to.
func (g gateway) never(terminal []string) bool {
	for _, kind := range []string{"Accepted", "Programmed"} {
		c := g.Conditions.of(kind)
		if c.is(metav1.ConditionFalse, g.Generation) && slices.Contains(terminal, c.Reason) {
			return true
		}
	}
	return false
}

// wrong is what the route's status says that it should not; resolved says whether
// what the route leads to is there.
func (r route) wrong(resolved bool) string {
	if r.Controller == "" {
		return "the class's controller says nothing of it"
	}
	if c := r.Conditions.of("Accepted"); !c.is(metav1.ConditionTrue, r.Generation) {
		return "it is not Accepted: " + c.text(r.Generation)
	}
	c := r.Conditions.of("ResolvedRefs")
	switch {
	case resolved && !c.is(metav1.ConditionTrue, r.Generation):
		return "its backends are not resolved: " + c.text(r.Generation)
	case !resolved && !c.is(metav1.ConditionFalse, r.Generation):
		return "it leads to a Service that does not exist, and ResolvedRefs is not False: " + c.text(r.Generation)
	case !resolved && c.Reason != "BackendNotFound":
		return "it leads to a Service that does not exist, and the reason is not BackendNotFound: " + c.text(r.Generation)
	}
	return ""
}

// text is a condition for a person.
func (c condition) text(generation int64) string {
	switch {
	case c.Status == "":
		return "there is no condition " + c.Type
	case !c.current(generation):
		return fmt.Sprintf("the condition %s is of generation %d, the object of %d", c.Type, c.Observed, generation)
	}
	text := c.Type + " is " + c.Status + ", " + c.Reason
	if c.Message != "" {
		text += " (" + c.Message + ")"
	}
	return text
}
