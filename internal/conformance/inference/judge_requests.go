package inference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
)

// read reads the requests of a kind. ok says that all were sent as they are to be and
// that all were answered, by whomever.
func (j *judge) read(want kindOfRequest) (check.Observation, []answer, bool) {
	o, seen, ok := conclude.Only[requests](&j.Conclusions, j.obs, kindRequests, want.target)
	if !ok {
		return o, nil, false
	}
	what := "requests " + want.target
	if seen.Path != want.path || !maps.Equal(seen.Headers, want.headers) {
		j.Missing(o, what, fmt.Sprintf("%s with the headers %v was asked for, not %s with %v", seen.Path, seen.Headers, want.path, want.headers), again)
		return o, nil, false
	}
	if len(seen.Answers) != want.times || want.times < 1 {
		j.Missing(o, what, fmt.Sprintf("%d were sent, not %d", len(seen.Answers), want.times), again)
		return o, nil, false
	}
	for _, a := range seen.Answers {
		if a.Status == 0 {
			j.Missing(o, what, fmt.Sprintf("%d of %d were not answered: %s", count(seen.Answers, func(a answer) bool { return a.Status == 0 }), want.times, a.Err), "see that the way to the gateway stays open; "+again)
			return o, nil, false
		}
	}
	return o, seen.Answers, true
}

func (j *judge) kindOf(target string) kindOfRequest {
	all := (&trying{Check: j.Check}).kinds()
	return all[slices.IndexFunc(all, func(k kindOfRequest) bool { return k.target == target })]
}

func count(all []answer, is func(answer) bool) int {
	n := 0
	for _, a := range all {
		if is(a) {
			n++
		}
	}
	return n
}

// tally is who answered what, for a person.
func tally(all []answer) string {
	counts := map[string]int{}
	for _, a := range all {
		who := a.Model
		if who == "" {
			who = "nobody who says who it is"
		}
		counts[fmt.Sprintf("%d from %s", a.Status, who)]++
	}
	var out []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d times %s", counts[what], what))
	}
	return strings.Join(out, ", ")
}

// weights: the split is one that the weights can give.
func (j *judge) weights() {
	k := j.kindOf(toWeights)
	o, all, ok := j.read(k)
	if !ok {
		return
	}
	f := j.figures
	suspect := "httproute " + routeSplit
	if n := count(all, func(a answer) bool { return good(toWeights, a) }); n != len(all) {
		j.Fail(o, suspect, fmt.Sprintf("%d of %d requests of its path were answered by neither backend: %s", len(all)-n, len(all), tally(all)), "read the log of the gateway's data plane")
		return
	}
	n := count(all, func(a answer) bool { return a.Model == served(first) })
	least, most := bounds(len(all), f.share(), f.Alpha)
	source := fmt.Sprintf("binomial, %d requests of %.2f, alpha %g (NIST/SEMATECH e-Handbook 1.3.6.6.18)", len(all), f.share(), f.Alpha)
	j.Figure(check.Figure{Name: "requests to the first backend", Value: float64(n), Unit: "requests", Limit: float64(least), Relation: ">=", Source: source},
		check.Figure{Name: "requests to the first backend", Value: float64(n), Unit: "requests", Limit: float64(most), Relation: "<=", Source: source})
	if n < least || n > most {
		j.Fail(o, suspect, fmt.Sprintf("with the weights %v the first backend answered %d of %d requests: %d to %d would be by the weights", f.Weights, n, len(all), least, most),
			"use an implementation that heeds the weights of backendRefs; see that nothing between keeps requests on one backend (sessions, connection pools)")
		return
	}
	j.Shown()
	j.say("weights %v split %d requests %d to %d", f.Weights, len(all), n, len(all)-n)
}

// header: a header leads all requests to the second backend, which by the weights has
// the fewer.
func (j *judge) header() {
	k := j.kindOf(toHeader)
	o, all, ok := j.read(k)
	if !ok {
		return
	}
	n := count(all, func(a answer) bool { return good(toHeader, a) })
	j.Figure(check.Figure{Name: "requests that followed their header", Value: float64(n), Unit: "requests", Limit: float64(len(all)), Relation: "==", Source: "a match is no weight: every request"})
	if n != len(all) {
		j.Fail(o, "httproute "+routeSplit, fmt.Sprintf("%d of %d requests with the header %s did not go where it leads: %s", len(all)-n, len(all), j.figures.Header, tally(all)),
			"use an implementation that heeds header matches of HTTPRoutes")
		return
	}
	j.Shown()
	j.say("%d of %d with %s went to the other", n, len(all), j.figures.Header)
}

// nowhere: a route to a Service that does not exist answers errors.
func (j *judge) nowhere() {
	j.all(toNowhere, "httproute "+routeEmpty, "a route to a Service that does not exist must answer an error of the server (500 or more)", "a route to nothing answers errors")
}

// noRoute: a path of no route is not found.
func (j *judge) noRoute() {
	j.all(toNoRoute, "gateway "+gatewayName, "a path without a route must answer 404", "a path without a route answers 404")
}

func (j *judge) all(target, suspect, rule, said string) {
	o, all, ok := j.read(j.kindOf(target))
	if !ok {
		return
	}
	if n := count(all, func(a answer) bool { return good(target, a) }); n != len(all) {
		j.Fail(o, suspect, fmt.Sprintf("%s, and of %d requests %d did otherwise: %s", rule, len(all), len(all)-n, tally(all)), "use an implementation that passes the Gateway API's conformance tests (core)")
		return
	}
	j.Shown()
	j.say("%s", said)
}
