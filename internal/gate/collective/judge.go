package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	var all *review
	var trials []trial
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil && o.Target == target(ScopeAll, nil):
			return check.NotObserved("the collective over all nodes did not run", check.NewFinding(o.ID, "job "+jobName(ScopeAll, nil, 0),
				"check that the GPUs of every node are free, that the image can be pulled and that the gang is placed; then run it again with --from collective", "%v", err))
		case err != nil: // a pair that did not run gives no information
		case f.Scope == ScopeAll:
			all = g.reviewRun(o.ID, f)
		default:
			trials = append(trials, g.trial(o.ID, f))
		}
	}
	if all == nil {
		return check.NotObserved("no collective over all nodes was observed")
	}
	if missing := g.missing(all.f); missing != "" {
		all.Unobserved(all.id, "inventory", "run the gate again on the whole inventory", "%s", missing)
	}
	passed := ""
	if worst := g.worst(all.f); worst.bytes > 0 {
		passed = fmt.Sprintf("busbw %.1f GB/s at the largest sizes over %d nodes, 0 wrong values in %d runs%s", worst.median, len(all.f.Nodes), len(all.f.Runs), all.viaRDMA())
	}
	all.Figure(g.headline(all.f)...)
	all.OmitUnobservedIfFailed()
	j := all.Judgement(passed)
	if j.Verdict != check.Failed || all.named {
		return j
	}
	culprits := g.culprits(all.f, trials)
	if len(culprits) == 0 {
		j.Findings[0].Message += g.summariseTrials(trials) + doubts(all.f, trials)
		return j
	}
	j.Reason = culprits[0].Suspect + ": " + j.Findings[0].Message
	j.Findings = append(culprits, j.Findings...)
	return j
}

// missing explains why the run did not cover the inventory; "" if it did.
func (g *Gate) missing(f Figures) string {
	have := map[string]bool{}
	for _, n := range f.Nodes {
		have[n] = true
	}
	for _, n := range g.nodes() {
		if !have[n] {
			return fmt.Sprintf("node %s of the inventory did not take part", n)
		}
	}
	if len(have) == 0 || f.GPUsPerNode != g.gpus() || f.Repetitions < g.repetitions() {
		return fmt.Sprintf("%d nodes with %d GPUs ran %d repetitions, the profile requires %d GPUs per node and %d repetitions", len(have), f.GPUsPerNode, f.Repetitions, g.gpus(), g.repetitions())
	}
	return ""
}
