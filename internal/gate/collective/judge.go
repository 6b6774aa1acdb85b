package collective

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	var all *review
	var headline []check.Figure
	var trials []trial
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil && o.Target == target(ScopeAll, nil):
			return check.CouldNotObserve("the collective over all nodes did not run", check.Finding{
				Suspect: "job " + jobName(ScopeAll, nil), Message: err.Error(), Observations: ids(o),
				Remedy: "see that the GPUs of every node are free, that the image can be pulled and that the gang is placed; then run it again with --from collective",
			})
		case err != nil:
			continue // a pair that did not run says nothing
		case f.Scope == ScopeAll:
			all, headline = g.reviewRun(o.ID, f), g.headline(f)
		default:
			trials = append(trials, g.trial(o.ID, f))
		}
	}
	if all == nil {
		return check.CouldNotObserve("no collective over all nodes was observed" + errorOf(obs))
	}
	j := g.conclude(all, trials)
	j.Figures = headline
	return j
}

func (g *Gate) conclude(all *review, trials []trial) check.Judgement {
	if missing := g.missing(all.f); missing != "" {
		all.blind("inventory", "run the gate again on the whole inventory", "%s", missing)
	}
	if len(all.failed) > 0 {
		reason := all.failed[0].Message
		var named []check.Finding
		if !all.named {
			named = g.culprits(all.f.Nodes, trials)
		}
		if len(named) > 0 {
			reason = named[0].Suspect + ": " + reason
		} else {
			all.failed[0].Message += g.verdictOnAll(trials)
		}
		return check.Fail(reason, append(named, all.failed...)...)
	}
	if len(all.unseen) > 0 {
		return check.CouldNotObserve(all.unseen[0].Message, all.unseen...)
	}
	worst := g.worst(all.f)
	if worst.bytes == 0 {
		return check.CouldNotObserve("no bandwidth was measured")
	}
	return check.Pass(fmt.Sprintf("busbw %.1f GB/s at the largest sizes over %d nodes, data right, every channel on RDMA", worst.median, len(all.f.Nodes)))
}

// missing says that the run was not over the site's nodes.
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
		return fmt.Sprintf("%d nodes with %d GPUs ran %d repetitions, the profile wants %d GPUs a node and %d repetitions", len(have), f.GPUsPerNode, f.Repetitions, g.gpus(), g.repetitions())
	}
	return ""
}

func ids(o check.Observation) []string {
	if o.ID == "" {
		return nil
	}
	return []string{o.ID}
}

// errorOf is why observing ended, where the engine recorded it.
func errorOf(obs []check.Observation) string {
	for _, o := range obs {
		if o.Kind == "error" && o.Err != "" {
			return ": " + o.Err
		}
	}
	return ""
}
