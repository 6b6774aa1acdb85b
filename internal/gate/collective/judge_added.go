package collective

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

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
	// lacks: it did not run since the node lacked GPUs; refused: since a pod or the job failed.
	lacks, refused bool
	// why explains a pair that did not pass.
	why   string
	busbw float64
}

// result judges one pair; ok is false for other nodes than a new and an accepted one.
func (p *Pairs) result(id string, f Figures) (r pair, ok bool) {
	if f.Collective != "" || f.Scope != ScopePair || len(f.Nodes) != 2 || !slices.Contains(p.accepted, f.Nodes[0]) || !slices.Contains(p.Nodes(), f.Nodes[1]) {
		return pair{}, false
	}
	r = pair{id: id, partner: f.Nodes[0], node: f.Nodes[1], busbw: p.gate.worst(f).median}
	if err := f.Outcome.NotRun(); err != nil {
		r.notRun(f.Outcome, err)
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

// notRun makes the pair one that did not run.
func (r *pair) notRun(o gangjob.Outcome, err error) {
	r.lacks, r.refused, r.why = slices.Contains(o.Lacking, r.node), o.Refused, "did not run: "+err.Error()
}

// unrun is the pair of an observation with an error: its figures say only why it did not run.
func unrun(o check.Observation, partner, node string, err error) pair {
	r := pair{id: o.ID, partner: partner, node: node}
	o.Err = ""
	f, _ := check.Decode[Figures](o) // without figures the reason is unknown
	r.notRun(f.Outcome, err)
	return r
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
			results[node] = append(results[node], unrun(o, partner, node, err))
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
	if limit, row, ok := p.gate.limit(Figures{Nodes: make([]string, 2)}); ok && slowest > 0 {
		b.Figure(check.Figure{Name: "busbw of pairs, slowest new node", Value: slowest, Unit: "GB/s", Limit: limit, Relation: ">=", Source: source(row)})
	}
	return b.Judgement(fmt.Sprintf("%d new nodes, each in a pair with an accepted one: busbw %.1f GB/s or more, 0 wrong values", len(nodes), slowest))
}

// judgeNode judges a node without a pair that passed. A failure that names no node needs as many
// partners as there are, triesOfANode at most. Pairs that did not run fail the node if it lacked the GPUs,
// or if pods of the pair failed and the partner passed with another new node.
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
	if len(results) > 0 && !slices.ContainsFunc(results, func(r pair) bool { return !r.lacks && (!r.refused || !works[r.partner]) }) {
		against, named = []check.Finding{{Suspect: node}}, true
	}
	if !named && failed < min(triesOfANode, max(1, len(p.partners(node)))) {
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
