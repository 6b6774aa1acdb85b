package collective

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeOthers judges the other collectives that the site demands: exactly one run of each. allReduce is the verdict
// of the all-reduce.
func (g *Gate) judgeOthers(obs []check.Observation, allReduce check.Verdict) []check.Judgement {
	var out []check.Judgement
	for _, t := range g.suite()[1:] {
		out = append(out, g.judgeOther(t, obs, allReduce))
	}
	return out
}

// combine is the judgement of several runs: the worst verdict, with the findings of the runs that have it, and
// all figures.
func combine(of []check.Judgement) check.Judgement {
	worst := check.Passed
	for _, j := range of {
		if j.Verdict == check.Failed || j.Verdict != check.Passed && worst != check.Failed {
			worst = j.Verdict
		}
	}
	out := check.Judgement{Verdict: worst}
	var reasons []string
	for _, j := range of {
		out.Figures = append(out.Figures, j.Figures...)
		if j.Verdict == worst {
			out.Findings = append(out.Findings, j.Findings...)
			reasons = append(reasons, j.Reason)
		}
	}
	out.Reason = strings.Join(reasons, "; ")
	return out
}

const remedySuite = remedyOnce + "; a collective that the site does not need is removed from workloads.collective.suite"

// judgeOther judges another collective than the all-reduce against its own limit.
func (g *Gate) judgeOther(t test, obs []check.Observation, allReduce check.Verdict) check.Judgement {
	runs := g.runsOf(t, obs)
	if j, ok := exactlyOne(runs, t.name, g.all(t).name(), remedySuite); !ok {
		return j
	}
	j := g.localised(runs.all, g.nodes(), runs.trials, g.summary(t.name, runs.all.f))
	if j.Verdict == check.Failed && !runs.all.named && strings.HasPrefix(j.Findings[0].Suspect, "cluster (") {
		j.Findings[0].Message += "; the all-reduce of the same nodes " + resultOf(allReduce)
	}
	for i := range j.Findings {
		j.Findings[i].Message = t.name + ": " + j.Findings[i].Message
	}
	if j.Verdict != check.Passed {
		j.Reason = t.name + ": " + j.Reason
	}
	return j
}

// resultOf says what a run showed.
func resultOf(v check.Verdict) string {
	if v == check.Passed || v == check.Failed {
		return string(v)
	}
	return "has no result"
}

// summary is the reason of a pass.
func (g *Gate) summary(of string, f Figures) string {
	worst := g.worst(f)
	if worst.bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.1f GB/s", of, worst.median)
}

// exactlyOne requires one run over all nodes: of a failure and a pass, neither is the result.
func exactlyOne(runs runs, of, job, remedy string) (check.Judgement, bool) {
	switch {
	case runs.count > 1:
		reason := fmt.Sprintf("%s was observed %d times, want exactly one observation", of, runs.count)
		return check.NotObserved(reason, check.NewFinding("", of, remedy, "%s", reason)), false
	case runs.failed != nil:
		return check.NotObserved(of+" did not run", check.NewFinding(runs.failed.ID, "job "+job, remedyNotRun, "%v", runs.err)), false
	case runs.all == nil:
		reason := of + " was not observed"
		return check.NotObserved(reason, check.NewFinding("", of, remedy, "%s", reason)), false
	default:
		return check.Judgement{}, true
	}
}
