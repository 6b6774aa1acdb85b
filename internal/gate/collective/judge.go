package collective

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check: the all-reduce, then the other collectives, the rails and the NVLink domains that
// the site demands.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	j := g.judgeAllReduce(obs)
	domains := g.judgeDomains(obs)
	if j.Verdict == check.Failed {
		return domains.explain(withRails(j, g.judgeRails(obs)))
	}
	// Domains before the others: they name one where another collective over all nodes names the cluster.
	return combine(slices.Concat([]check.Judgement{j}, domains.problems, domains.runs, g.judgeOthers(obs, j.Verdict), g.judgeRails(obs)))
}

// runs are the observations of a test: the last run over all nodes with their number (see exactlyOne), and any
// number of small ones.
type runs struct {
	all    *review
	count  int
	failed *check.Observation // it has an error
	err    error
	trials []trial
}

// runsOf reads the observations of a test.
func (g *Gate) runsOf(t test, obs []check.Observation) runs {
	var out runs
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil && o.Target == g.all(t).target():
			out.failed, out.err = &o, err
			out.count++
		case err != nil: // a pair that did not run gives no information
		case f.test().program != t.program || f.Rail != "":
		case f.Scope == ScopeAll:
			out.all = g.reviewRun(o.ID, f)
			out.count++
		case f.Scope != ScopeRail && f.Scope != ScopeDomain:
			out.trials = append(out.trials, g.trial(o.ID, f))
		}
	}
	if out.all != nil && g.spansDomains(out.all.f) {
		out.trials = nil // they are of one domain
	}
	return out
}

const remedyOnce = "run it again with --from collective"

const remedyNotRun = "check that the GPUs of every node are free, that the image can be pulled and that the gang is placed; then run it again with --from collective"

func (g *Gate) judgeAllReduce(obs []check.Observation) check.Judgement {
	runs := g.runsOf(tests[0], obs)
	if j, ok := exactlyOne(runs, "the collective over all nodes", g.all(tests[0]).name(), remedyOnce); !ok {
		return j
	}
	all := runs.all
	passed := ""
	if worst := g.worst(all.f); worst.bytes > 0 {
		passed = fmt.Sprintf("busbw %.1f GB/s at the largest sizes over %d nodes, 0 wrong values in %d runs%s", worst.median, len(all.f.Nodes), len(all.f.Runs), all.viaRDMA())
	}
	return g.localised(all, g.nodes(), runs.trials, passed)
}

// localised is the judgement of a run over nodes, with the culprits that small runs name.
func (g *Gate) localised(all *review, nodes []string, trials []trial, passed string) check.Judgement {
	if missing := g.missing(all.f, nodes); missing != "" {
		all.Unobserved(all.id, "inventory", "run the gate again on the whole inventory", "%s", missing)
	}
	all.Figure(g.headline(all.f)...)
	all.OmitUnobservedIfFailed()
	j := all.Judgement(passed)
	if j.Verdict != check.Failed || all.named {
		return j
	}
	culprits := g.culprits(all.f, trials)
	if len(culprits) == 0 {
		j.Findings[0].Message += g.summariseTrials(all.f, trials) + doubts(all.f, trials)
		return j
	}
	j.Reason = culprits[0].Suspect + ": " + j.Findings[0].Message
	j.Findings = append(culprits, j.Findings...)
	return j
}

// missing explains why the run did not cover nodes of the inventory; "" if it did.
func (g *Gate) missing(f Figures, nodes []string) string {
	have := map[string]bool{}
	for _, n := range f.Nodes {
		have[n] = true
	}
	for _, n := range nodes {
		if !have[n] {
			return fmt.Sprintf("node %s of the inventory did not take part", n)
		}
	}
	if f.Scope == ScopeDomain && len(have) != len(nodes) {
		return fmt.Sprintf("%d nodes took part, and its NVLink domain has %d", len(have), len(nodes))
	}
	if len(have) == 0 || f.GPUsPerNode != g.gpus() || f.Repetitions < g.repetitions() {
		return fmt.Sprintf("%d nodes with %d GPUs ran %d repetitions, the profile requires %d GPUs per node and %d repetitions", len(have), f.GPUsPerNode, f.Repetitions, g.gpus(), g.repetitions())
	}
	return ""
}
