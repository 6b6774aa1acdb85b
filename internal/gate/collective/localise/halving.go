package localise

import "slices"

// halving finds the smallest bad groups below a bad one. Every group keeps the order of ranks.
type halving struct {
	*state
	round    [][]string
	together [][]string
}

// bad reports whether a group was bad. A group without a run joins the round if its nodes are
// free in it; ok is false until it has one.
func (h *halving) bad(group []string) (bad, ok bool) {
	if t, known := h.of(group); known {
		return t.bad > 0 && t.good == 0, true
	}
	if len(group) < 2 {
		return false, true // the pairs judge single nodes
	}
	busy := slices.ContainsFunc(h.round, func(other []string) bool {
		return slices.ContainsFunc(group, func(n string) bool { return slices.Contains(other, n) })
	})
	if !busy {
		h.round = append(h.round, group)
	}
	return false, false
}

// group descends into the bad halves of a bad group.
func (h *halving) group(g []string) {
	if bad, ok := h.bad(g); !ok || !bad || len(g) <= 2 {
		return
	}
	if !h.anyOf(halves(g), h.group) {
		return
	}
	h.between(g[:len(g)/2], g[len(g)/2:])
}

// anyOf runs groups that are disjoint and descends into the bad ones. It reports true if all are
// good.
func (h *halving) anyOf(groups [][]string, descend func([]string)) bool {
	allGood := true
	for _, g := range groups {
		bad, ok := h.bad(g)
		allGood = allGood && ok && !bad
		if bad {
			descend(g)
		}
	}
	return allGood
}

// between searches between two groups that are good alone and bad together.
func (h *halving) between(a, b []string) {
	if len(a)+len(b) <= 2 {
		return
	}
	as, bs := halves(a), halves(b)
	for turn := range 2 {
		var joined [][]string
		parts := map[string][2][]string{}
		for i, part := range as {
			other := bs[(i+turn)%len(bs)]
			g := slices.Concat(part, other)
			parts[key(g)] = [2][]string{part, other}
			joined = append(joined, g)
		}
		if !h.anyOf(joined, func(g []string) { h.between(parts[key(g)][0], parts[key(g)][1]) }) {
			return
		}
	}
	h.together = append(h.together, slices.Concat(a, b))
}

// halves of a group; a single node is not divided.
func halves(g []string) [][]string {
	if len(g) < 2 {
		return [][]string{g}
	}
	return [][]string{g[:len(g)/2], g[len(g)/2:]}
}
