package safety

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// finding is something that a check has against a run.
type finding struct {
	Check string // model, tokens, history, in-time, groups, waiters, answers
	Text  string
}

// afterlife is how long a request may still be carried out after its sender has gone.
const afterlife = 15 * time.Second

// judge checks a run with the model and the history.
func (d *driver) judge() []finding {
	ops := d.all()
	var out []finding
	out = append(out, answers(ops)...)
	out = append(out, groups(ops)...)
	out = append(out, tokens(ops)...)
	out = append(out, inTime(ops)...)
	histories := map[string]*told{}
	for _, name := range slices.Concat(d.phases...) {
		h, f := d.history(name)
		histories[name] = h
		out = append(out, f...)
	}
	out = append(out, waiters(ops, histories)...)
	for _, name := range slices.Concat(d.phases...) {
		out = append(out, d.model(name, ops, histories[name])...)
	}
	return out
}

// all operations in request order; unanswered ones end some time later.
func (d *driver) all() []op {
	removed := map[int]int64{}
	for _, p := range d.ended {
		removed[p.id] = p.killed
	}
	var out []op
	for _, o := range d.ops {
		if o.Ret == 0 {
			o.Ret = removed[o.Worker] + int64(afterlife)
		} else if o.Outcome == gaveUp || o.Outcome == unreached {
			o.Ret += int64(afterlife)
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b op) int { return cmp.Compare(a.Call, b.Call) })
	return out
}

// searchTimeout bounds the search for a linearization of one reservation.
const searchTimeout = 2 * time.Minute

// model asks whether the operations on one reservation can have been carried out one
// at a time.
func (d *driver) model(name string, ops []op, h *told) []finding {
	history := operations(name, ops, h)
	result, info := porcupine.CheckOperationsVerbose(model, history, searchTimeout)
	if result == porcupine.Ok {
		return nil
	}
	path := filepath.Join(d.kept(), name+".html")
	text := fmt.Sprintf("%s: %s, %d operations, see %s", name, result, len(history), path)
	if err := porcupine.VisualizePath(model, info, path); err != nil {
		text += ": " + err.Error()
	}
	return []finding{{Check: "model", Text: text + stuck(history, info)}}
}

// stuck returns the end of the longest partial linearization, and of the other operations those that ended first: the
// picture is lost with its machine.
func stuck(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	const shown = 6
	var longest []porcupine.Operation
	for _, p := range slices.Concat(info.PartialLinearizationsOperations()...) {
		if len(p) > len(longest) {
			longest = p
		}
	}
	in := map[[2]int64]bool{} // an operation by its request and its answer
	key := func(o porcupine.Operation) [2]int64 { return [2]int64{o.Call, o.Output.(answered).token} }
	for _, o := range longest {
		in[key(o)] = true
	}
	left := slices.DeleteFunc(slices.Clone(history), func(o porcupine.Operation) bool { return in[key(o)] })
	slices.SortFunc(left, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	lines := []string{""}
	for _, o := range slices.Concat(longest[max(0, len(longest)-shown):], left[:min(shown, len(left))]) {
		lines = append(lines, fmt.Sprintf("%s, %s to %s", model.DescribeOperation(o.Input, o.Output), time.Duration(o.Call), time.Duration(o.Return)))
	}
	return strings.Join(lines, "\n")
}

// operations returns the operations of one reservation for porcupine. The history completes
// unanswered grants.
func operations(name string, ops []op, h *told) []porcupine.Operation {
	numbers := map[ending]int{}
	number := func(k kind, token int64) int {
		e := ending{kind: k, token: token}
		if _, ok := numbers[e]; !ok {
			numbers[e] = len(numbers)
		}
		return numbers[e]
	}
	clients := map[[2]int]int{}
	seen := map[int64]bool{}
	for _, o := range ops {
		if o.Kind == look && o.On[0] == name {
			seen[o.Saw.Token] = true
		}
	}
	var out []porcupine.Operation
	for _, o := range ops {
		if !slices.Contains(o.On, name) {
			continue
		}
		a := asked{op: o, token: o.Token, noClean: noClean(name), together: len(o.On) > 1}
		if slices.Contains(endingKinds, o.Kind) {
			a.ending = number(o.Kind, o.Token)
		}
		c := [2]int{o.Worker, o.Client}
		if _, ok := clients[c]; !ok {
			clients[c] = len(clients)
		}
		for _, r := range answersOf(name, o, h) {
			out = append(out, porcupine.Operation{ClientId: clients[c], Input: a, Output: r, Call: o.Call, Return: o.Ret})
		}
		for _, token := range givenBack(o, h, seen) {
			back := asked{op: o, token: token, released: h.fates[token] == left, ending: number(release, token)}
			back.op.Kind = unused
			out = append(out,
				porcupine.Operation{ClientId: clients[c], Input: a, Output: answered{outcome: done, token: token}, Call: o.Call, Return: o.Ret},
				porcupine.Operation{ClientId: clients[c], Input: back, Output: answered{outcome: done}, Call: o.Call, Return: o.Ret})
		}
	}
	return out
}

// endingKinds are asked for again without another effect.
var endingKinds = []kind{release, evict, impound, finish, fail, handBack}

// ending is a request to end something, sent once or more often.
type ending struct {
	kind  kind
	token int64
}

// givenBack returns the tokens of grants that were returned before their answer but observed.
func givenBack(o op, h *told, seen map[int64]bool) []int64 {
	var out []int64
	for _, token := range h.claims[o.Holder] {
		if end := h.fates[token]; o.Kind == acquire && seen[token] && (end == lease.Returned || end == left) {
			out = append(out, token)
		}
	}
	return out
}

// answersOf returns the effect of an operation, as far as known. An unanswered grant that ended is
// repeated.
func answersOf(name string, o op, h *told) []answered {
	var out []answered
	told := slices.Index(o.Got, name)
	if told >= 0 {
		out = append(out, answered{outcome: done, token: o.Tokens[told], saw: o.Saw})
	}
	switch o.Kind {
	case renew, check, renewClean, extend, notify, look:
		if !slices.Contains([]outcome{done, stale, limit, over}, o.Outcome) {
			return nil // an unanswered operation without effect
		}
	case acquire, clean, take:
		for _, token := range h.claims[o.Holder] {
			if end := h.fates[token]; end != lease.Returned && end != left && (told < 0 || token != o.Tokens[told]) {
				out = append(out, answered{outcome: done, token: token})
			}
		}
		if len(out) > 0 || o.Outcome != busy && o.Outcome != notDirty && o.Outcome != notOpen {
			return out
		}
	default: // it may have ended something, answered or not
	}
	return []answered{{outcome: o.Outcome, saw: o.Saw}}
}

// answers that no broker may give.
func answers(ops []op) []finding {
	var out []finding
	for _, o := range ops {
		if o.Outcome == unexpected {
			out = append(out, finding{Check: "answers", Text: o.String()})
		}
	}
	return out
}

// groups are given whole.
func groups(ops []op) []finding {
	var out []finding
	for _, o := range ops {
		if o.Kind == acquire && len(o.Got) > 0 && len(o.Got) != len(o.On) {
			out = append(out, finding{Check: "groups", Text: fmt.Sprintf("of %v %s got %v", o.On, o.Holder, o.Got)})
		}
	}
	return out
}

// granted is one answered grant.
type granted struct {
	on    string
	token int64
}

// tokens are given once, and who asks after another was answered gets a greater one.
func tokens(ops []op) []finding {
	var out []finding
	given := map[granted]op{}
	byName := map[string][]op{}
	for _, o := range ops {
		for i, name := range o.Got {
			g := granted{on: name, token: o.Tokens[i]}
			if first, twice := given[g]; twice {
				out = append(out, finding{Check: "tokens", Text: fmt.Sprintf("%d of %s was given to %s and to %s", g.token, name, first.Holder, o.Holder)})
			}
			given[g] = o
			one := o
			one.Token = g.token
			byName[name] = append(byName[name], one)
		}
	}
	for name, all := range byName {
		highest := slices.Clone(all) // the greatest token that was answered by a time
		slices.SortFunc(highest, func(a, b op) int { return cmp.Compare(a.Ret, b.Ret) })
		i, known := 0, int64(0)
		for _, o := range all {
			for ; i < len(highest) && highest[i].Ret < o.Call; i++ {
				known = max(known, highest[i].Token)
			}
			if o.Token <= known {
				out = append(out, finding{Check: "tokens", Text: fmt.Sprintf("%s of %s got %d after %d", o.Holder, name, o.Token, known)})
			}
		}
	}
	return out
}

// inTime: no lease is refused to a holder that renewed within the interval, unless a step with its
// token ended it. No ticket times out earlier.
func inTime(ops []op) []finding {
	var out []finding
	periods, ended := map[granted]int64{}, map[granted]int64{}
	for _, o := range ops {
		for i, name := range o.Got {
			periods[granted{on: name, token: o.Tokens[i]}] = o.Period
		}
		if o.Kind == acquire && o.Outcome == lost && o.Ret < o.Call+o.Period {
			out = append(out, finding{Check: "in-time", Text: "dropped from a queue too soon: " + o.String()})
		}
		g := granted{on: o.On[0], token: o.Token}
		if _, known := ended[g]; !known && (slices.Contains(endingKinds, o.Kind) || o.Kind == stand) { // which ends by the time of day
			ended[g] = o.Call // the first: they are in the order of their calls
		}
	}
	return append(out, refusedTooSoon(ops, func(g granted) (period, end int64) {
		if end, ok := ended[g]; ok {
			return periods[g], end
		}
		return periods[g], math.MaxInt64
	})...)
}

// refusedTooSoon checks each refusal and when its holder was last heard of before.
func refusedTooSoon(ops []op, of func(granted) (period, ended int64)) []finding {
	var out []finding
	heard := map[granted]int64{} // the newest call that was answered well so far
	for _, o := range ops {
		for i, name := range o.Got {
			g := granted{on: name, token: o.Tokens[i]}
			if o.Kind == clean || !o.Wait && len(o.On) == 1 { // a waiter sends heartbeats before its grant
				heard[g] = o.Call
			}
		}
		g := granted{on: o.On[0], token: o.Token}
		if o.Outcome == done && (o.Kind == renew || o.Kind == renewClean) {
			heard[g] = o.Call
		}
		last, ok := heard[g]
		period, ended := of(g)
		tells := o.Kind == renew || o.Kind == check || o.Kind == renewClean
		if ok && tells && o.Outcome == stale && ended > o.Ret && o.Ret < last+period && !foreign(o) {
			out = append(out, finding{Check: "in-time", Text: fmt.Sprintf("refused %s after it was heard of, of %s: %s", time.Duration(o.Ret-last), time.Duration(period), o)})
		}
	}
	return out
}

// foreign: an old token of a lease that is shown as if it was one of cleaning, or the
// other way round, is refused for that.
func foreign(o op) bool { return o.Period == 0 && o.Kind != check }

// waiters without an answer had their process killed.
func waiters(ops []op, histories map[string]*told) []finding {
	var out []finding
	for _, o := range ops {
		if o.Kind != acquire && o.Kind != take || o.Outcome == unanswered {
			continue
		}
		for _, name := range o.On {
			h := histories[name]
			if h == nil {
				continue
			}
			if i := slices.Index(o.Got, name); i >= 0 && !slices.Contains(h.claims[o.Holder], o.Tokens[i]) {
				out = append(out, finding{Check: "waiters", Text: fmt.Sprintf("%s got %s with token %d; the history has %v", o.Holder, name, o.Tokens[i], h.claims[o.Holder])})
			}
			if h.waits[o.Holder] && o.Outcome != gaveUp && o.Outcome != unreached {
				out = append(out, finding{Check: "waiters", Text: fmt.Sprintf("%s was answered %s and still waits for %s", o.Holder, o.Outcome, name)})
			}
			if o.Outcome == lost && !h.lost[o.Holder] && len(o.On) == 1 {
				out = append(out, finding{Check: "waiters", Text: fmt.Sprintf("%s lost its place for %s, and the history does not say so", o.Holder, name)})
			}
		}
	}
	return out
}
