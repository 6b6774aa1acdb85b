package collective

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeRails judges the all-reduce over each rail, if the site demands it: exactly one run of each.
func (g *Gate) judgeRails(obs []check.Observation) []check.Judgement {
	var out []check.Judgement
	for _, j := range g.rails() {
		out = append(out, g.judgeRail(j, obs))
	}
	return out
}

// withRails adds the rails that are slow alone to a failure of the all-reduce, before its own findings. If all
// rails are slow, no rail is the cause; if all are fast, they are slow only together. Neither is concluded while
// a rail has no result. Rails are not run after a failure that names a node.
func withRails(j check.Judgement, rails []check.Judgement) check.Judgement {
	var slow []check.Finding
	bad, good := 0, 0
	for _, r := range rails {
		if r.Verdict == check.Failed {
			slow = append(slow, r.Findings...)
			bad++
		}
		if r.Verdict == check.Passed {
			good++
		}
	}
	unknown := ""
	if rest := len(rails) - bad - good; rest > 0 {
		unknown = fmt.Sprintf("; %d of %d rails %s no result", rest, len(rails), plural(rest, "has", "have"))
	}
	switch {
	case bad+good == 0:
	case bad > 0 && bad < len(rails):
		slow[0].Message += unknown
		j.Reason = slow[0].Message
		j.Findings = slices.Concat(slow, j.Findings)
	case bad > 0:
		j.Findings[0].Message += fmt.Sprintf("; each of %d rails alone is slow, too: no rail explains it", bad)
	case good < len(rails):
		j.Findings[0].Message += fmt.Sprintf("; %d of %d rails alone %s fast%s", good, len(rails), plural(good, "is", "are"), unknown)
	default:
		j.Findings[0].Message += fmt.Sprintf("; each of %d rails alone is fast: they are slow only together", good)
	}
	return j
}

// plural is the verb of n rails.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

const remedyRail = "check the leaf switch and the cables of this rail: its errors (ibqueryerrors), its congestion counters (PortXmitWait), and the PCIe links of its adapters; then run again with --from collective"

// judgeRail judges the all-reduce over one rail: the suspect is the rail, unless the log names a node.
func (g *Gate) judgeRail(want job, obs []check.Observation) check.Judgement {
	var runs runs
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil && o.Target == want.target():
			runs.failed, runs.err = &o, err
			runs.count++
		case err == nil && f.Scope == ScopeRail && f.Rail == want.rail && f.test().isAllReduce():
			runs.all = g.reviewRun(o.ID, f)
			runs.count++
		}
	}
	name := "rail " + want.rail
	if j, ok := exactlyOne(runs, name, want.name(), remedySuite); !ok {
		return j
	}
	j := g.localised(runs.all, g.nodes(), nil, g.summary(name, runs.all.f))
	for i := range j.Findings {
		j.Findings[i].Message = name + ": " + j.Findings[i].Message
		if j.Findings[i].Suspect == want.rail {
			j.Findings[i].Remedy = remedyRail
		}
	}
	if j.Verdict != check.Passed {
		j.Reason = name + ": " + j.Reason
	}
	return j
}
