package localise

import "slices"

// Result is the result of one run over a group of nodes.
type Result struct {
	// Nodes are in the order of their ranks.
	Nodes []string
	// Ran is false for a run without a result. It is not repeated.
	Ran bool
	// Bad: it failed, or was slower than the limit for this number of nodes.
	Bad bool
}

// Search is a collective over nodes that was bad.
type Search struct {
	// Nodes are in the order of their ranks.
	Nodes []string
	// Paths are the pairs of nodes with a channel in that collective.
	Paths [][2]string
}

// Step is what the results show, and the runs that show more.
type Step struct {
	// Round are disjoint groups to run next, concurrently; empty at the end of the search.
	Round [][]string
	// Nodes and Links are the culprits found so far.
	Nodes []string
	Links [][2]string
	// Complete: a run over all nodes without the culprits was good.
	Complete bool
	// Rest are the nodes of that run.
	Rest []string
	// Together are groups that are bad although their parts are good.
	Together [][]string
	// Contradictory are nodes and pairs with good and bad runs.
	Contradictory []string
}

// confirmations is the number of bad runs that name a node or a link: under noise, a false one
// must happen three times in a row.
const confirmations = 3

// Next returns what the results show. Results of groups outside the search count as
// well.
func (s Search) Next(results []Result) Step {
	st := newState(s, results)
	step := Step{Nodes: st.guilty(), Links: st.badLinks(), Contradictory: st.contradictory()}
	if step.Round = st.pairs(); len(step.Round) > 0 {
		return step
	}
	if !st.anyCleared() {
		step.Round = st.untried(singles(s.Nodes))
		return step
	}
	step.Rest = st.rest(step.Nodes, step.Links)
	h := halving{state: st}
	h.group(step.Rest)
	step.Round, step.Together = h.round, h.together
	rest, known := st.of(step.Rest)
	step.Complete = len(step.Round) == 0 && known && rest.good > 0 && rest.bad == 0
	return step
}

func singles(nodes []string) [][]string {
	var out [][]string
	for _, n := range nodes {
		out = append(out, []string{n})
	}
	return out
}

// rest are the nodes without the culprits: without bad nodes, and without one end of each bad
// link.
func (st *state) rest(nodes []string, links [][2]string) []string {
	out := map[string]bool{}
	for _, n := range slices.Concat(nodes, st.open()) {
		out[n] = true
	}
	ends := map[string]int{}
	for _, l := range links {
		ends[l[0]]++
		ends[l[1]]++
	}
	for _, l := range links {
		if out[l[0]] || out[l[1]] {
			continue
		}
		if ends[l[1]] > ends[l[0]] {
			out[l[1]] = true
		} else {
			out[l[0]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(st.search.Nodes), func(n string) bool { return out[n] })
}
