package inference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// answers returns the answers to the requests of a target. ok is false unless all were sent
// as planned and answered.
func (j *judge) answers(target string) (all []answer, id string, ok bool) {
	kinds := (&trial{Check: j.Check}).kinds()
	want := kinds[slices.IndexFunc(kinds, func(k requestKind) bool { return k.target == target })]
	sent, id, ok := require[requests](j, kindRequests, target)
	if !ok {
		return nil, id, false
	}
	subject := "requests " + target
	unanswered := slices.DeleteFunc(slices.Clone(sent.Answers), func(a answer) bool { return a.Status != 0 })
	switch {
	case sent.Path != want.path || !maps.Equal(sent.Headers, want.headers):
		j.Unobserved(id, subject, again, "%s was requested with the headers %v, want %s with %v", sent.Path, sent.Headers, want.path, want.headers)
	case len(sent.Answers) != want.times || want.times < 1:
		j.Unobserved(id, subject, again, "%d were sent, want %d", len(sent.Answers), want.times)
	case len(unanswered) > 0:
		j.Unobserved(id, subject, "keep the path to the gateway open; "+again, "%d of %d were not answered: %s", len(unanswered), want.times, unanswered[0].Err)
	default:
		return sent.Answers, id, true
	}
	return nil, id, false
}

func count(all []answer, match func(answer) bool) int {
	n := 0
	for _, a := range all {
		if match(a) {
			n++
		}
	}
	return n
}

// tally counts the answers by status and model.
func tally(all []answer) string {
	counts := map[string]int{}
	for _, a := range all {
		model := cmp.Or(a.Model, "an unidentified server")
		counts[fmt.Sprintf("%d from %s", a.Status, model)]++
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d times %s", counts[key], key))
	}
	return strings.Join(out, ", ")
}

// weights requires a split that is probable by the weights.
func (j *judge) weights() {
	all, id, ok := j.answers(toWeights)
	if !ok {
		return
	}
	f := j.figures
	suspect := "httproute " + routeSplit
	if n := count(all, func(a answer) bool { return expected(toWeights, a) }); n != len(all) {
		j.Fail(id, suspect, "see the log of the gateway's data plane", "neither backend answered %d of %d requests of its path: %s", len(all)-n, len(all), tally(all))
		return
	}
	n := count(all, func(a answer) bool { return a.Model == served(first) })
	least, most := bounds(len(all), f.share(), f.Alpha)
	source := fmt.Sprintf("binomial, %d requests of %.2f, alpha %g (NIST/SEMATECH e-Handbook 1.3.6.6.18)", len(all), f.share(), f.Alpha)
	j.Figure(check.Figure{Name: "requests to the first backend", Value: float64(n), Unit: "requests", Limit: float64(least), Relation: ">=", Source: source},
		check.Figure{Name: "requests to the first backend", Value: float64(n), Unit: "requests", Limit: float64(most), Relation: "<=", Source: source})
	if n < least || n > most {
		j.Fail(id, suspect, "use an implementation that supports the weights of backendRefs; see that nothing in between keeps requests on one backend (sessions, connection pools)",
			"with the weights %v the first backend answered %d of %d requests, want %d to %d", f.Weights, n, len(all), least, most)
		return
	}
	j.shown("weights %v split %d requests %d to %d", f.Weights, len(all), n, len(all)-n)
}

// header requires that all requests with the header go to the second backend, which by the
// weights gets fewer.
func (j *judge) header() {
	all, id, ok := j.answers(toHeader)
	if !ok {
		return
	}
	n := count(all, func(a answer) bool { return expected(toHeader, a) })
	j.Figure(check.Figure{Name: "requests that followed their header", Value: float64(n), Unit: "requests", Limit: float64(len(all)), Relation: "==", Source: "a header match applies to every request"})
	if n != len(all) {
		j.Fail(id, "httproute "+routeSplit, "use an implementation that supports header matches of HTTPRoutes", "%d of %d requests with the header %s went to another backend: %s", len(all)-n, len(all), j.figures.Header, tally(all))
		return
	}
	j.shown("%d of %d with %s went to the second", n, len(all), j.figures.Header)
}

// all requires the expected answer to every request of a target.
func (j *judge) all(target, suspect, rule, shown string) {
	all, id, ok := j.answers(target)
	if !ok {
		return
	}
	if n := count(all, func(a answer) bool { return expected(target, a) }); n != len(all) {
		j.Fail(id, suspect, "use an implementation that passes the Gateway API's conformance tests (core)", "%s, but %d of %d requests got another answer: %s", rule, len(all)-n, len(all), tally(all))
		return
	}
	j.shown("%s", shown)
}
