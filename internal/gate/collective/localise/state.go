package localise

import (
	"slices"
	"strings"
)

// tally counts the runs of one group.
type tally struct{ good, bad, lost int }

func (t tally) runs() int { return t.good + t.bad + t.lost }

// state is what the results say of groups and nodes.
type state struct {
	search Search
	// position is the index of a node in the order of ranks.
	position map[string]int
	groups   map[string]tally
	cleared  map[string]bool
	// against are the partners of a node's bad pairs, tried the number of its pairs' runs.
	against map[string][]string
	tried   map[string]int
}

func newState(s Search, results []Result) *state {
	st := &state{search: s, position: map[string]int{}, groups: map[string]tally{}, cleared: map[string]bool{}, against: map[string][]string{}, tried: map[string]int{}}
	for i, n := range s.Nodes {
		st.position[n] = i
	}
	for _, r := range results {
		if len(r.Nodes) == 2 {
			st.tried[r.Nodes[0]]++
			st.tried[r.Nodes[1]]++
		}
		t := st.groups[key(r.Nodes)]
		switch {
		case !r.Ran:
			t.lost++
		case r.Bad:
			t.bad++
			if len(r.Nodes) == 2 {
				st.addAgainst(r.Nodes[0], r.Nodes[1])
				st.addAgainst(r.Nodes[1], r.Nodes[0])
			}
		default:
			t.good++
			for _, n := range r.Nodes {
				st.cleared[n] = st.cleared[n] || len(r.Nodes) > 1
			}
		}
		st.groups[key(r.Nodes)] = t
	}
	return st
}

func (st *state) addAgainst(node, partner string) {
	if !slices.Contains(st.against[node], partner) {
		st.against[node] = append(st.against[node], partner)
	}
}

// key identifies a group; the order of its nodes does not matter.
func key(nodes []string) string { return strings.Join(slices.Sorted(slices.Values(nodes)), "\n") }

func (st *state) of(nodes []string) (tally, bool) {
	t, known := st.groups[key(nodes)]
	return t, known
}

func (st *state) anyCleared() bool { return slices.ContainsFunc(st.search.Nodes, st.isCleared) }

func (st *state) isCleared(n string) bool { return st.cleared[n] }

// accusers are the cleared nodes with which a node is bad.
func (st *state) accusers(n string) []string {
	return slices.DeleteFunc(slices.Clone(st.against[n]), func(p string) bool { return !st.cleared[p] })
}

// isGuilty: the node was in no good run, and is bad with enough nodes that are good with others.
func (st *state) isGuilty(n string) bool {
	return !st.cleared[n] && len(st.accusers(n)) >= confirmations
}

func (st *state) guilty() []string {
	return slices.DeleteFunc(slices.Clone(st.search.Nodes), func(n string) bool { return !st.isGuilty(n) })
}

// open are the nodes that are in a bad pair, not cleared and not guilty.
func (st *state) open() []string {
	return slices.DeleteFunc(slices.Clone(st.search.Nodes), func(n string) bool {
		return st.cleared[n] || st.isGuilty(n) || len(st.against[n]) == 0
	})
}

// suspectLinks are the bad pairs of cleared nodes.
func (st *state) suspectLinks() [][2]string {
	var out [][2]string
	for _, a := range st.search.Nodes {
		for _, b := range st.against[a] {
			if st.before(a, b) && st.cleared[a] && st.cleared[b] {
				out = append(out, [2]string{a, b})
			}
		}
	}
	return out
}

func (st *state) before(a, b string) bool {
	return st.position[a] < st.position[b]
}

// badLinks are the confirmed ones. A node with many bad pairs and a good run is not the end of
// that many bad links: it is contradictory.
func (st *state) badLinks() [][2]string {
	return slices.DeleteFunc(st.suspectLinks(), func(l [2]string) bool {
		t, _ := st.of(l[:])
		return t.good > 0 || t.bad < confirmations || st.isContradictory(l[0]) || st.isContradictory(l[1]) //nolint:gosec // a link has two ends
	})
}

func (st *state) isContradictory(n string) bool {
	return st.cleared[n] && len(st.accusers(n)) >= confirmations
}

// contradictory are nodes and pairs with good and bad runs.
func (st *state) contradictory() []string {
	var out []string
	for _, n := range st.search.Nodes {
		if st.isContradictory(n) {
			out = append(out, n)
		}
	}
	for _, l := range st.suspectLinks() {
		if t, _ := st.of(l[:]); t.good > 0 {
			out = append(out, l[0]+"<->"+l[1])
		}
	}
	return out
}
