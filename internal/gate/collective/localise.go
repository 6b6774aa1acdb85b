package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// culprits are findings from the small jobs, if they name a culprit.
func (g *Gate) culprits(all Figures, trials []trial) []check.Finding {
	c := classify(all.Nodes, trials)
	if len(all.Nodes) > allPairsAtMost {
		c = found(search(all, trials))
	}
	var out []check.Finding
	for _, n := range c.guilty {
		out = append(out, g.nodeFinding(n, trials))
	}
	for _, link := range c.links {
		out = append(out, g.linkFinding(link, trials))
	}
	if len(out) > 0 {
		return out
	}
	if out = g.outliers(trials); len(out) > 0 {
		return out
	}
	return g.alone(trials)
}

// nodeFinding is about a node that is in every bad pair.
func (g *Gate) nodeFinding(node string, trials []trial) check.Finding {
	with, ids := evidence(trials, func(t trial) bool { return t.bad && slices.Contains(t.nodes, node) })
	without, more := evidence(trials, func(t trial) bool { return !t.bad && len(t.nodes) <= 2 && !slices.Contains(t.nodes, node) })
	rest, most := evidence(trials, func(t trial) bool { return !t.bad && len(t.nodes) > 2 && !slices.Contains(t.nodes, node) })
	message := fmt.Sprintf("every pair with %s is bad: %s", node, with)
	if without != "" {
		message += "; pairs without it are good: " + without
	}
	if rest != "" {
		message += "; groups without it are good: " + rest
	}
	return check.Finding{
		Suspect: node, Message: message, Observations: slices.Concat(ids, more, most),
		Remedy: "take " + node + " out of service; " + remedyOf(trials, node),
	}
}

// remedyOf is the remedy of a node's bad pairs.
func remedyOf(trials []trial, node string) string {
	for _, t := range trials {
		if t.bad && t.remedy != "" && slices.Contains(t.nodes, node) {
			return t.remedy
		}
	}
	return remedySlow
}

// linkFinding is about the path between two nodes that are good with others.
func (g *Gate) linkFinding(pair []string, trials []trial) check.Finding {
	text, ids := evidence(trials, func(t trial) bool { return slices.Equal(t.nodes, pair) })
	return check.Finding{
		Suspect: strings.Join(pair, "<->"), Observations: ids,
		Message: fmt.Sprintf("%s and %s are good with other nodes and bad with each other: %s", pair[0], pair[1], text),
		Remedy:  "check the links and switches between the two (ibtracert, iblinkinfo, ibqueryerrors), and routing",
	}
}

// outliers compares pairs with the best pair if none reaches the ceiling.
func (g *Gate) outliers(trials []trial) []check.Finding {
	best := 0.0
	for _, t := range trials {
		if len(t.nodes) == 2 && t.ran {
			best = max(best, t.busbw)
		}
	}
	relative := make([]trial, 0, len(trials))
	var nodes []string
	for _, t := range trials {
		if len(t.nodes) != 2 || !t.ran {
			continue
		}
		t.bad = t.broken || t.busbw < g.profile.Collective.MinFraction.Value*best
		relative = append(relative, t)
		nodes = append(nodes, t.nodes...)
	}
	slices.Sort(nodes)
	var out []check.Finding
	for _, n := range classify(slices.Compact(nodes), relative).guilty {
		out = append(out, g.nodeFinding(n, relative))
	}
	return out
}

// alone are findings about nodes that are bad alone.
func (g *Gate) alone(trials []trial) []check.Finding {
	var out []check.Finding
	single, bad := 0, 0
	for _, t := range trials {
		if len(t.nodes) != 1 || !t.ran {
			continue
		}
		single++
		if !t.bad {
			continue
		}
		bad++
		text, ids := evidence([]trial{t}, func(trial) bool { return true })
		out = append(out, check.Finding{
			Suspect: t.nodes[0], Message: fmt.Sprintf("%s is bad by itself: %s", t.nodes[0], text), Observations: ids,
			Remedy: "the fault is inside the node: check NVLink (nvidia-smi nvlink -s), the fabric manager, GPU clocks and power limits; run dcgmi diag -r 3",
		})
	}
	if bad == single {
		return nil // all of them: no node is the cause
	}
	return out
}

// summariseTrials summarises small jobs that name no culprit.
func (g *Gate) summariseTrials(all Figures, trials []trial) string {
	shared, common := "spine switches, routing, adaptive routing, SHARP", "image, NCCL version or settings, subnet manager, whole fabric"
	if all.Domain != "" {
		shared, common = "NVLink switches and their partition", "image, NCCL version or settings, IMEX, NVLink switches"
	}
	pairs, bad := 0, 0
	for _, t := range trials {
		if len(t.nodes) == 2 && t.ran {
			pairs++
			if t.bad {
				bad++
			}
		}
	}
	switch {
	case pairs == 0:
		return ""
	case bad == 0:
		return fmt.Sprintf("; all %d pairs of nodes are good: suspect shared components (%s)", pairs, shared)
	case bad == pairs:
		return fmt.Sprintf("; all %d pairs of nodes are bad: suspect a common cause (%s)", pairs, common)
	default:
		return fmt.Sprintf("; %d of %d pairs of nodes are bad, and no node explains them", bad, pairs)
	}
}

// evidence lists small jobs with their bandwidths.
func evidence(trials []trial, wanted func(trial) bool) (text string, ids []string) {
	var parts []string
	for _, t := range trials {
		if !t.ran || !wanted(t) {
			continue
		}
		part := fmt.Sprintf("%s %.1f GB/s", target(scopeOf(t.nodes), t.nodes), t.busbw)
		if t.reason != "" {
			part = target(scopeOf(t.nodes), t.nodes) + " " + t.reason
		}
		parts = append(parts, part)
		if t.id != "" {
			ids = append(ids, t.id)
		}
	}
	return list(parts), ids
}
