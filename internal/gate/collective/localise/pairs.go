package localise

import "slices"

// mostTries is the number of runs of a suspect node or link, with those that give no result.
const mostTries = 3 * confirmations

// pairs are the disjoint pairs to run next: those that clear or confirm a suspect first, then
// paths that were not run yet. It is empty if they show nothing more.
func (st *state) pairs() [][]string {
	r := &round{state: st, busy: map[string]bool{}}
	for _, n := range st.open() {
		r.confirm(n)
	}
	for _, l := range st.suspectLinks() {
		if t, _ := st.of(l[:]); t.good == 0 && t.bad < confirmations && t.runs() < mostTries {
			r.add(l[0], l[1]) //nolint:gosec // a link has two ends
		}
	}
	r.paths()
	return r.groups
}

// round collects disjoint groups.
type round struct {
	*state
	busy   map[string]bool
	groups [][]string
}

func (r *round) add(a, b string) {
	if r.busy[a] || r.busy[b] {
		return
	}
	if r.before(b, a) {
		a, b = b, a
	}
	r.busy[a], r.busy[b] = true, true
	r.groups = append(r.groups, []string{a, b})
}

// confirm pairs an open node with a cleared one that it was not paired with. The farthest in the
// order of ranks comes first: it has no link in common with a neighbour.
func (r *round) confirm(node string) {
	if r.tried[node] >= mostTries {
		return // its jobs give no results
	}
	nodes := r.search.Nodes
	at := r.position[node]
	for i := range nodes {
		partner := nodes[(at+len(nodes)/2+i)%len(nodes)]
		if partner == node || !r.cleared[partner] || r.busy[partner] {
			continue
		}
		if _, known := r.of([]string{node, partner}); !known {
			r.add(node, partner)
			return
		}
	}
}

// paths adds paths that were not run, those of the nodes with the most of them first: then the
// number of rounds stays near the largest number of paths of a node.
func (r *round) paths() {
	var fresh [][2]string
	left := map[string]int{}
	for _, p := range r.search.Paths {
		_, known := r.of(p[:])
		if known || p[0] == p[1] || r.isGuilty(p[0]) || r.isGuilty(p[1]) {
			continue
		}
		fresh = append(fresh, p)
		left[p[0]]++
		left[p[1]]++
	}
	slices.SortStableFunc(fresh, func(a, b [2]string) int {
		return max(left[b[0]], left[b[1]]) - max(left[a[0]], left[a[1]])
	})
	for _, p := range fresh {
		r.add(p[0], p[1])
	}
}

// untried are the groups without a run.
func (st *state) untried(groups [][]string) [][]string {
	return slices.DeleteFunc(groups, func(g []string) bool {
		_, known := st.of(g)
		return known
	})
}
