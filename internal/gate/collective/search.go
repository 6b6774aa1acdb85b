package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

// allPairsAtMost is the largest number of nodes of which all pairs are run. With more nodes a search
// takes fewer rounds.
const allPairsAtMost = 8

// search is the state of the search after the trials.
func search(all Figures, trials []trial) localise.Step {
	results := make([]localise.Result, 0, len(trials))
	for _, t := range trials {
		results = append(results, localise.Result{Nodes: t.nodes, Ran: t.ran, Bad: t.bad})
	}
	return localise.Search{Nodes: all.Nodes, Paths: paths(all)}.Next(results)
}

// paths are the pairs of nodes with a channel in the run over all nodes, and the neighbours in the
// order of ranks, which NCCL's rings connect: a log that ends early has no channels.
func paths(all Figures) [][2]string {
	position := make(map[string]int, len(all.Nodes))
	for i, n := range all.Nodes {
		position[n] = i
	}
	var out [][2]string
	seen := map[[2]string]bool{}
	add := func(a, b string) {
		i, known := position[a]
		j, too := position[b]
		p := [2]string{a, b}
		if j < i {
			p = [2]string{b, a}
		}
		if known && too && i != j && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	for i, n := range all.Nodes {
		add(n, all.Nodes[(i+1)%len(all.Nodes)])
	}
	where := all.where()
	for _, c := range all.NCCL.Channels {
		add(where.ranks[c.From], where.ranks[c.To])
	}
	return out
}

// found are the named nodes and links of a search.
func found(step localise.Step) classes {
	c := classes{guilty: step.Nodes}
	for _, l := range step.Links {
		c.links = append(c.links, l[:])
	}
	return c
}

// doubts explain why a search of many nodes named no culprit.
func doubts(all Figures, trials []trial) string {
	if len(all.Nodes) <= allPairsAtMost {
		return ""
	}
	step := search(all, trials)
	var out []string
	for _, g := range step.Together {
		out = append(out, fmt.Sprintf("%s are slow together, and good in parts: suspect the switches between them and routing", target(ScopeGroup, g)))
	}
	if len(step.Contradictory) > 0 {
		out = append(out, "runs contradict each other: "+list(step.Contradictory)+": repeat the gate")
	}
	if step.Complete && len(step.Rest) == len(all.Nodes) {
		out = append(out, "its repetition over all nodes is good: the cause is intermittent")
	}
	if len(step.Round) > 0 {
		out = append(out, "the search did not end: groups did not run, or workloads.collective.timeout is too short")
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(slices.Compact(out), "; ")
}
