package collective

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

// trial is the result of one small job.
type trial struct {
	id    string
	nodes []string
	// ran is set if the job has a result.
	ran bool
	// bad is set if it failed or is slower than the profile's limit.
	bad bool
	// broken is set if it is bad for another reason than its bandwidth.
	broken bool
	busbw  float64
	reason string
	// remedy is the remedy of that reason.
	remedy string
}

// trial judges one small job by itself.
func (g *Gate) trial(id string, f Figures) trial {
	t := trial{id: id, nodes: f.Nodes, ran: f.Outcome.Ended != gangjob.EndedNotRun, busbw: g.worst(f).median}
	r := &review{gate: g, f: f, place: f.where()}
	r.completeness()
	r.data()
	if r.HasFailed() {
		t.bad, t.broken = true, true
		first := r.Judgement("").Findings[0]
		t.reason, t.remedy = first.Message, first.Remedy
		return t
	}
	limit, _, ok := g.limit(f)
	if !ok || t.busbw == 0 || f.Rotated {
		t.ran = false
		return t
	}
	t.bad = t.busbw < limit
	return t
}

func (g *Gate) trials(tried []Figures) []trial {
	out := make([]trial, 0, len(tried))
	for _, f := range tried {
		out = append(out, g.trial("", f))
	}
	return out
}

// needsLocalising reports whether the run over all nodes failed without naming a node, in a way
// that runs on fewer nodes may explain.
func (g *Gate) needsLocalising(all Figures) bool {
	if len(all.Nodes) < 2 || all.Outcome.Ended == gangjob.EndedNotRun || all.Scope == ScopeAll && g.spansDomains(all) {
		return false // domains localise it
	}
	r := g.reviewRun("", all)
	return r.searchable && !r.named
}

// next returns the groups to run after the tried ones; it is empty at the end, and pure.
func (g *Gate) next(all Figures, tried []Figures) [][]string {
	trials := g.trials(tried)
	if len(all.Nodes) > allPairsAtMost {
		return search(all, trials).Round
	}
	return nextPairs(all.Nodes, trials)
}

// nextPairs are pairs until each node is cleared by a good pair or guilty by bad ones, and single
// nodes if no pair is good.
func nextPairs(nodes []string, trials []trial) [][]string {
	if len(nodes) == 2 { // the run over all nodes was the pair
		return singles(nodes, trials)
	}
	c := classify(nodes, trials)
	rounds := tournament(nodes)
	switch {
	case len(c.open) == 0 && (len(c.guilty) > 0 || len(c.links) > 0):
		return nil
	case len(c.open) > 0 && len(c.cleared) > 0:
		if groups := withCleared(c, trials); len(groups) > 0 {
			return groups
		}
	}
	for _, round := range rounds {
		if fresh := notTried(round, trials); len(fresh) > 0 {
			return fresh
		}
	}
	if len(c.cleared) == 0 {
		return singles(nodes, trials)
	}
	return nil
}

// classes classifies nodes by their pairs.
type classes struct {
	// cleared nodes were in a good pair.
	cleared []string
	// guilty nodes are bad with every tried cleared partner, at least two (or all of them).
	guilty []string
	// open nodes are not classified yet.
	open []string
	// links are bad pairs of cleared nodes.
	links [][]string
}

func classify(nodes []string, trials []trial) classes {
	var c classes
	good, bad := pairsOf(trials)
	cleared := map[string]bool{}
	for _, pair := range good {
		cleared[pair[0]], cleared[pair[1]] = true, true
	}
	failures := map[string]int{} // with cleared partners
	for _, pair := range bad {
		a, b := pair[0], pair[1]
		switch {
		case cleared[a] && cleared[b]:
			c.links = append(c.links, pair)
		case cleared[a]:
			failures[b]++
		case cleared[b]:
			failures[a]++
		}
	}
	for _, n := range nodes {
		switch {
		case cleared[n]:
			c.cleared = append(c.cleared, n)
		case failures[n] >= min(2, len(cleared)) && len(cleared) > 0:
			c.guilty = append(c.guilty, n)
		default:
			c.open = append(c.open, n)
		}
	}
	return c
}

// pairsOf are the good and the bad pairs that ran.
func pairsOf(trials []trial) (good, bad [][]string) {
	for _, t := range trials {
		switch {
		case len(t.nodes) != 2 || !t.ran:
		case t.bad:
			bad = append(bad, t.nodes)
		default:
			good = append(good, t.nodes)
		}
	}
	return good, bad
}

// withCleared pairs each open node with an untried cleared one; the pairs are disjoint.
func withCleared(c classes, trials []trial) [][]string {
	var groups [][]string
	taken := map[string]bool{}
	for _, n := range c.open {
		for _, partner := range c.cleared {
			pair := ordered(n, partner)
			if taken[partner] || len(notTried([][]string{pair}, trials)) == 0 {
				continue
			}
			taken[partner] = true
			groups = append(groups, pair)
			break
		}
	}
	return groups
}

// tournament returns every pair of nodes once, in rounds of disjoint pairs.
func tournament(nodes []string) [][][]string {
	ring := slices.Clone(nodes)
	if len(ring)%2 == 1 {
		ring = append(ring, "") // its partner pauses in this round
	}
	var rounds [][][]string
	for range len(ring) - 1 {
		var round [][]string
		for i := range len(ring) / 2 {
			a, b := ring[i], ring[len(ring)-1-i]
			if a != "" && b != "" {
				round = append(round, ordered(a, b))
			}
		}
		rounds = append(rounds, round)
		ring = slices.Concat(ring[:1], ring[len(ring)-1:], ring[1:len(ring)-1])
	}
	return rounds
}

func singles(nodes []string, trials []trial) [][]string {
	groups := make([][]string, 0, len(nodes))
	for _, n := range nodes {
		groups = append(groups, []string{n})
	}
	return notTried(groups, trials)
}

func notTried(groups [][]string, trials []trial) [][]string {
	var fresh [][]string
	for _, group := range groups {
		if !slices.ContainsFunc(trials, func(t trial) bool { return slices.Equal(t.nodes, group) }) {
			fresh = append(fresh, group)
		}
	}
	return fresh
}

func ordered(a, b string) []string {
	if strings.Compare(a, b) > 0 {
		a, b = b, a
	}
	return []string{a, b}
}
