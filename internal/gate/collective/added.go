package collective

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// Excluding implements plan.Excluding.
func (p *Pairs) Excluding(nodes []string) check.Check {
	return NewPairs(p.gate.site.Without(nodes), p.gate.profile, p.gate.deps, p.accepted)
}

// Claims is the number of GPUs of one round.
func (p *Pairs) Claims() int { return 2 * min(len(p.Nodes()), len(p.accepted)) * p.gate.gpus() }

// Describe lists the actions of Observe.
func (p *Pairs) Describe() []string {
	return []string{
		fmt.Sprintf("on each new node with one of %d accepted nodes, disjoint pairs at once: %s", len(p.accepted), p.gate.command(p.gate.repetitions())),
		"if a pair fails: once more with another accepted node",
	}
}

// pair is the result of one pair.
type pair struct {
	id            string
	node, partner string
	passed        bool
	// against are findings against the new node; none of a pair that passed, was not observed, or
	// failed because of its partner.
	against []check.Finding
	// named: they name the node, so that no second partner is needed.
	named bool
	// notRun: the pair did not run.
	notRun bool
	// why explains a pair that did not pass.
	why   string
	busbw float64
}

// Observe implements check.Check.
func (p *Pairs) Observe(ctx context.Context, rec check.Recorder) error {
	l, err := p.gate.launcher(ctx)
	if err != nil {
		return err
	}
	var tried []pair
	for number := 1; ; number++ {
		groups := nextPartners(p.Nodes(), p.accepted, tried)
		if len(groups) == 0 {
			return nil
		}
		rec.Progress("round %d: %s", number, list(names(groups)))
		figures, err := p.gate.round(ctx, rec, l, number, groups, p.gate.repetitions())
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
func nextPartners(nodes, accepted []string, tried []pair) [][]string {
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
		for _, partner := range accepted {
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

// result judges one pair; ok is false for other nodes than a new and an accepted one.
func (p *Pairs) result(id string, f Figures) (r pair, ok bool) {
	if f.Scope != ScopePair || len(f.Nodes) != 2 || !slices.Contains(p.accepted, f.Nodes[0]) || !slices.Contains(p.Nodes(), f.Nodes[1]) {
		return pair{}, false
	}
	r = pair{id: id, partner: f.Nodes[0], node: f.Nodes[1], busbw: p.gate.worst(f).median}
	if err := f.Outcome.NotRun(); err != nil {
		r.notRun, r.why = true, "did not run: "+err.Error()
		return r, true
	}
	if f.GPUsPerNode != p.gate.gpus() || f.Repetitions < p.gate.repetitions() {
		r.why = fmt.Sprintf("ran %d repetitions with %d GPUs per node, the profile requires %d with %d", f.Repetitions, f.GPUsPerNode, p.gate.repetitions(), p.gate.gpus())
		return r, true
	}
	v := p.gate.reviewRun(id, f)
	v.OmitUnobservedIfFailed()
	j := v.Judgement("passed")
	r.passed = j.Verdict == check.Passed
	if r.passed {
		return r, true
	}
	r.why = j.Findings[0].Message
	if j.Verdict != check.Failed {
		return r, true
	}
	own := slices.DeleteFunc(slices.Clone(j.Findings), func(f check.Finding) bool {
		return f.Suspect != r.node && !strings.HasPrefix(f.Suspect, r.node+"/")
	})
	r.named = len(own) > 0
	if !r.named && !v.named {
		own = j.Findings[:1]
		own[0].Suspect = r.node
	}
	r.against = own
	return r, true
}

const (
	remedyAdded   = "compare the node's adapters, cables and PCIe links with those of an accepted node; then add it again"
	remedyPartner = "compare the accepted nodes with each other: firstlight drift"
	remedyNoPair  = "make the pair run: free GPUs, image, gang scheduler; if an accepted node is named, run firstlight drift"
)

// Judge implements check.Check: each new node needs one pair that passed, or it fails by the pairs
// that failed.
func (p *Pairs) Judge(obs []check.Observation) check.Judgement {
	nodes := p.Nodes()
	if len(nodes) == 0 || len(p.accepted) == 0 {
		return check.NotObserved("no new node, or no accepted one, to run a pair of")
	}
	results := map[string][]pair{}
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		if partner, node, two := strings.Cut(o.Target, "+"); err != nil && two {
			results[node] = append(results[node], pair{id: o.ID, node: node, partner: partner, notRun: true, why: "did not run: " + err.Error()})
		} else if r, ok := p.result(o.ID, f); err == nil && ok {
			results[r.node] = append(results[r.node], r)
		}
	}
	works := map[string]bool{} // accepted nodes with a pair that passed
	for _, of := range results {
		for _, r := range of {
			works[r.partner] = works[r.partner] || r.passed
		}
	}
	var b check.Builder
	slowest := 0.0
	for _, node := range nodes {
		good := slices.IndexFunc(results[node], func(r pair) bool { return r.passed })
		if good >= 0 {
			if bw := results[node][good].busbw; slowest == 0 || bw < slowest {
				slowest = bw
			}
			for _, r := range results[node] {
				if !r.passed {
					b.Note(r.id, r.partner, remedyPartner, "accepted, but its pair with %s did not pass, which passed with another node: %s", node, r.why)
				}
			}
			continue
		}
		p.judgeNode(&b, node, results[node], works)
	}
	if limit, row, ok := p.gate.limit(2); ok && slowest > 0 {
		b.Figure(check.Figure{Name: "busbw of pairs, slowest new node", Value: slowest, Unit: "GB/s", Limit: limit, Relation: ">=", Source: source(row)})
	}
	return b.Judgement(fmt.Sprintf("%d new nodes, each in a pair with an accepted one: busbw %.1f GB/s or more, 0 wrong values", len(nodes), slowest))
}

// judgeNode judges a node without a pair that passed. A failure that names no node needs as many
// partners as there are, triesOfANode at most. Pairs that did not run fail the node if its partners
// passed with other new nodes.
func (p *Pairs) judgeNode(b *check.Builder, node string, results []pair, works map[string]bool) {
	var why, ids []string
	var against []check.Finding
	failed, named := 0, false
	for _, r := range results {
		why = append(why, fmt.Sprintf("with %s: %s", r.partner, r.why))
		ids = append(ids, r.id)
		if len(r.against) > 0 {
			failed++
		}
		if len(against) == 0 || r.named && !named {
			against, named = r.against, r.named
		}
	}
	text := strings.Join(why, "; ")
	if len(results) > 0 && !slices.ContainsFunc(results, func(r pair) bool { return !r.notRun || !works[r.partner] }) {
		against, named = []check.Finding{{Suspect: node}}, true
	}
	if !named && failed < min(triesOfANode, len(p.accepted)) {
		f := check.NewFinding("", node, remedyNoPair, "no pair shows whether it works: %s", cmp.Or(text, "none was run"))
		f.Observations = ids
		b.AddUnobserved(f)
		return
	}
	for _, f := range against {
		f.Message, f.Remedy, f.Observations = "in a pair "+text, remedyAdded, ids
		b.AddFailed(f)
	}
}
