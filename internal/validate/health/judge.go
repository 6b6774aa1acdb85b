package health

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := judge{seen: map[place][]check.Observation{}}
	if len(c.components) == 0 {
		return check.NotObserved("the recipe has no enabled component")
	}
	j.sort(obs)
	healthy, total := 0, 0
	for i := range c.components {
		before := len(j.failed) + len(j.unobserved)
		j.component(&c.components[i])
		if len(j.failed)+len(j.unobserved) == before {
			healthy++
		}
		total += len(c.components[i].operations())
	}
	j.leftover()
	var b check.Builder
	b.AddFailed(j.failed...)
	b.AddUnobserved(j.unobserved...)
	b.Figure(
		check.Figure{Name: "healthy components", Value: float64(healthy), Unit: "components", Limit: float64(len(c.components)), Relation: "==", Source: "the recipe"},
		check.Figure{Name: "assertions that hold", Value: float64(j.held), Unit: "assertions", Limit: float64(total), Relation: "==", Source: "the components' assertion files"},
	)
	return b.Judgement(fmt.Sprintf("all %d assertions on the health of %d components hold", j.held, healthy))
}

// judge collects the findings, and the observations by operation.
type judge struct {
	seen               map[place][]check.Observation
	order              []place
	held               int
	failed, unobserved []check.Finding
}

// sort groups the observations by operation.
func (j *judge) sort(obs []check.Observation) {
	for _, o := range check.OfKind(obs, kindAssertion) {
		f, err := check.Decode[figures](o)
		if err != nil {
			j.unseen(o, o.Target, err.Error(), "run the step again")
			continue
		}
		j.order = append(j.order, f.place)
		j.seen[f.place] = append(j.seen[f.place], o)
	}
}

func (j *judge) component(l *loaded) {
	switch {
	case l.File == "":
		why := "has no assertions"
		if l.Missing != "" {
			why = "has no assertions: " + l.Missing
		}
		j.fail(check.Observation{}, "component "+l.Name, why, "write checks/"+l.Name+"/health-check.yaml and name it as healthCheck.assertFile in registry.yaml")
		return
	case l.err != nil:
		j.unusable(l)
		return
	}
	objects := 0
	for _, op := range l.operations() {
		objects += j.operation(l, op)
	}
	if objects == 0 && !j.hasFinding(l.Name) {
		j.fail(check.Observation{}, "component "+l.Name, l.File+" matched no object: it proves nothing about the component", "assert at least one object of the component")
	}
}

// unusable adds a finding for every problem of a file.
func (j *judge) unusable(l *loaded) {
	var list diag.List
	if !errors.As(l.err, &list) {
		j.fail(check.Observation{}, "component "+l.Name, fmt.Sprintf("%s is invalid: %s", l.File, l.err), "correct the file")
		return
	}
	for _, p := range list.Errors() {
		j.fail(check.Observation{}, "component "+l.Name, fmt.Sprintf("%s: %s", p.Pos, p.Message), p.Remedy)
	}
}

// operation judges an operation and returns the number of its objects; expressions count as one.
func (j *judge) operation(l *loaded, op *assertion.Operation) int {
	at := placeOf(l.Name, op)
	where := fmt.Sprintf("component %s, step %s (%s)", l.Name, op.Step.Name, op.At)
	found := j.seen[at]
	delete(j.seen, at)
	if len(found) != 1 {
		j.unseen(check.Observation{}, op.Subject(), fmt.Sprintf("%s: %d observations instead of one", where, len(found)), "run the step again")
		return 0
	}
	o := found[0]
	f, err := check.Decode[figures](o)
	if err != nil || f.Digest != l.digest() || f.Looks < 1 {
		j.unseen(o, op.Subject(), where+": the observation is of another version of the file", "run the step again with this recipe")
		return 0
	}
	r := op.Evaluate(f.Seen, assertion.All)
	if r.Holds {
		j.held++
	} else {
		j.explain(o, op, r, where, f)
	}
	if r.Wrong == "" && strings.HasPrefix(r.Subject, "expressions") {
		return 1
	}
	return len(r.Objects)
}

// leftover adds findings for observations of operations that the files do not have: the
// observations are of another recipe.
func (j *judge) leftover() {
	for _, at := range j.order {
		for _, o := range j.seen[at] {
			j.unseen(o, "component "+at.Component, "was observed and is not in this recipe", "judge with the recipe of the run")
		}
		delete(j.seen, at)
	}
}
