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
		return check.NotObserved("the recipe has no component whose health could be looked at")
	}
	j.sort(obs)
	healthy, total := 0, 0
	for i := range c.components {
		before := len(j.wrong) + len(j.unseen)
		j.component(&c.components[i])
		if len(j.wrong)+len(j.unseen) == before {
			healthy++
		}
		total += len(c.components[i].operations())
	}
	j.leftover()
	j.figures = []check.Figure{
		{Name: "healthy components", Value: float64(healthy), Unit: "components", Limit: float64(len(c.components)), Relation: "==", Source: "the recipe"},
		{Name: "assertions that hold", Value: float64(j.held), Unit: "assertions", Limit: float64(total), Relation: "==", Source: "the components' assertion files"},
	}
	return j.judgement()
}

// judge gathers what does not hold, and what was not seen.
type judge struct {
	seen    map[place][]check.Observation
	order   []place
	held    int
	wrong   []check.Finding
	unseen  []check.Finding
	figures []check.Figure
}

// sort files observations by the operation that they are of.
func (j *judge) sort(obs []check.Observation) {
	for _, o := range check.OfKind(obs, kindAssertion) {
		f, err := check.Decode[figures](o)
		if err != nil {
			j.miss(o, o.Target, err.Error(), "run the step again")
			continue
		}
		j.order = append(j.order, f.place)
		j.seen[f.place] = append(j.seen[f.place], o)
	}
}

func (j *judge) component(l *loaded) {
	switch {
	case l.File == "":
		why := "has no assertions: nobody says what its health is"
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
	if objects == 0 && !j.about(l.Name) {
		j.fail(check.Observation{}, "component "+l.Name, l.File+" saw no object: it shows nothing of the component", "assert what has to be there")
	}
}

// unusable has a finding for every problem of a file.
func (j *judge) unusable(l *loaded) {
	var list diag.List
	if !errors.As(l.err, &list) {
		j.fail(check.Observation{}, "component "+l.Name, fmt.Sprintf("%s can't be used: %s", l.File, l.err), "correct the file")
		return
	}
	for _, p := range list.Errors() {
		j.fail(check.Observation{}, "component "+l.Name, fmt.Sprintf("%s: %s", p.Pos, p.Message), p.Remedy)
	}
}

// operation judges one, and returns how many objects it saw; expressions count as one.
func (j *judge) operation(l *loaded, op *assertion.Operation) int {
	at := placeOf(l.Name, op)
	where := fmt.Sprintf("component %s, step %s (%s)", l.Name, op.Step.Name, op.At)
	found := j.seen[at]
	delete(j.seen, at)
	if len(found) != 1 {
		j.miss(check.Observation{}, op.Subject(), fmt.Sprintf("%s: %d observations instead of one", where, len(found)), "run the step again")
		return 0
	}
	o := found[0]
	f, err := check.Decode[figures](o)
	if err != nil || f.Digest != l.digest() || f.Looks < 1 {
		j.miss(o, op.Subject(), where+": what was observed is of another version of the file", "run the step again with this recipe")
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

// leftover are observations of what is not in the files: those are of another recipe.
func (j *judge) leftover() {
	for _, at := range j.order {
		for _, o := range j.seen[at] {
			j.miss(o, "component "+at.Component, "was observed, and is not in the recipe that it is judged by", "judge with the recipe of the run")
		}
		delete(j.seen, at)
	}
}

func (j *judge) judgement() check.Judgement {
	out := check.Judgement{Figures: j.figures, Findings: append(j.wrong, j.unseen...)}
	switch {
	case len(j.wrong) > 0:
		out.Verdict, out.Reason = check.Failed, summary(out.Findings)
	case len(j.unseen) > 0:
		out.Verdict, out.Reason = check.Unobserved, summary(out.Findings)
	default:
		out.Verdict = check.Passed
		out.Reason = fmt.Sprintf("all %.0f assertions on the health of %.0f components hold", j.figures[1].Value, j.figures[0].Value)
	}
	return out
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Suspect + ": " + findings[0].Message
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
