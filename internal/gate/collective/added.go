package collective

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// PairsName is the name of the check Pairs.
const PairsName = "pairs"

// triesOfANode is the most partners of a new node: a second one tells a bad node from a bad partner.
const triesOfANode = 2

// Pairs runs gate 6 on each new node with one accepted node, before all nodes run together.
type Pairs struct {
	gate     *Gate
	accepted []string
}

var _ plan.Localising = (*Pairs)(nil)

// NewPairs returns the check of a site with accepted and new nodes; deps may be zero for a check that
// only judges.
func NewPairs(s *site.Site, p *profile.Profile, deps Deps, accepted []string) *Pairs {
	return &Pairs{gate: New(s, p, deps), accepted: accepted}
}

// Name implements check.Check.
func (p *Pairs) Name() string { return PairsName }

// Nodes implements plan.Localising: the new nodes.
func (p *Pairs) Nodes() []string {
	return slices.DeleteFunc(p.gate.nodes(), func(n string) bool { return slices.Contains(p.accepted, n) })
}

// partners are the accepted nodes that a new node may be paired with. Where NVLink connects nodes, the
// limit of a pair is that of NVLink, which only nodes of a rack reach.
func (p *Pairs) partners(node string) []string {
	if !p.gate.profile.MultiNodeNVLink() {
		return p.accepted
	}
	racks := map[string]string{}
	for _, n := range p.gate.site.Inventory.Nodes {
		racks[n.Name] = n.Rack
	}
	return slices.DeleteFunc(slices.Clone(p.accepted), func(other string) bool { return racks[node] == "" || racks[other] != racks[node] })
}

// Unpaired are the new nodes without an accepted node to be paired with.
func (p *Pairs) Unpaired() []string {
	return slices.DeleteFunc(p.Nodes(), func(n string) bool { return len(p.partners(n)) > 0 })
}

// Excluding implements plan.Excluding.
func (p *Pairs) Excluding(nodes []string) check.Check {
	return NewPairs(p.gate.site.Without(nodes), p.gate.profile, p.gate.deps, p.accepted)
}

// Claims is the number of GPUs of one round.
func (p *Pairs) Claims() int { return 2 * min(len(p.Nodes()), len(p.accepted)) * p.gate.gpus() }

// Describe lists the actions of Observe.
func (p *Pairs) Describe() []string {
	return []string{
		fmt.Sprintf("on each new node with one of %d accepted nodes, disjoint pairs at once: %s", len(p.accepted), p.gate.command(job{test: tests[0], repetitions: p.gate.repetitions()})),
		"if a pair fails: once more with another accepted node",
	}
}

// Observe implements check.Check.
func (p *Pairs) Observe(ctx context.Context, rec check.Recorder) error {
	l, err := p.gate.launcher(ctx)
	if err != nil {
		return err
	}
	var tried []pair
	for number := 1; ; number++ {
		groups := nextPartners(p.Nodes(), p.partners, tried)
		if len(groups) == 0 {
			return nil
		}
		rec.Progress("round %d: %s", number, list(names(groups)))
		figures, err := p.gate.round(ctx, rec, l, job{test: tests[0], round: number, repetitions: p.gate.repetitions()}, groups)
		if err != nil {
			return err
		}
		for _, f := range figures {
			if r, ok := p.result("", f); ok {
				tried = append(tried, r)
			}
		}
	}
}

// nextPartners are the disjoint pairs, partner first, of the next round; none at the end. It prefers
// partners with fewer failed pairs, then with fewer pairs.
func nextPartners(nodes []string, partners func(node string) []string, tried []pair) [][]string {
	var out [][]string
	busy := map[string]bool{}
	for _, node := range nodes {
		had := map[string]bool{}
		done := false
		for _, t := range tried {
			if t.node == node {
				had[t.partner], done = true, done || t.passed || t.named
			}
		}
		if done || len(had) >= triesOfANode {
			continue
		}
		best, least := "", 0
		for _, partner := range partners(node) {
			cost := 0
			for _, t := range tried {
				switch {
				case t.partner == partner && t.passed:
					cost++
				case t.partner == partner:
					cost += len(nodes) + 1
				}
			}
			if !busy[partner] && !had[partner] && (best == "" || cost < least) {
				best, least = partner, cost
			}
		}
		if best != "" {
			busy[best] = true
			out = append(out, []string{best, node})
		}
	}
	return out
}
