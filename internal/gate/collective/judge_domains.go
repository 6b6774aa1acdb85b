package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeDomains judges the collectives over each NVLink domain, if the site demands it: exactly one run of each. The
// run over all nodes says which domains there are.
func (g *Gate) judgeDomains(obs []check.Observation) []check.Judgement {
	if !g.byDomain() {
		return nil
	}
	all := g.runsOf(tests[0], obs).all
	if all == nil {
		const reason = "the NVLink domains are unknown: the run over all nodes shows them"
		return []check.Judgement{check.NotObserved(reason, check.NewFinding("", "NVLink domains", remedyOnce, "%s", reason))}
	}
	var b check.Builder
	domains := g.domainsOf(&b, all.id, all.f)
	g.judgeRacks(&b, all.id, domains)
	if b.Clean() && !slices.ContainsFunc(domains, func(d domain) bool { return len(d.nodes) > 1 }) {
		b.Unobserved(all.id, "NVLink domains", remedyNoFabric, "each of %d NVLink domains has one node: no run shows NVLink between nodes", len(domains))
	}
	var out []check.Judgement
	if !b.Clean() {
		out = append(out, b.Judgement(""))
	}
	for _, d := range domains {
		for _, t := range g.suite() {
			j := g.judgeDomain(t, d, obs)
			out = append(out, j)
			if t.isAllReduce() && j.Verdict == check.Failed {
				break // the others were not run
			}
		}
	}
	return out
}

// judgeRacks requires that the nodes of a rack are in one domain. Gate node judges which one is wrong.
func (g *Gate) judgeRacks(b *check.Builder, id string, domains []domain) {
	of := map[string][]string{}
	for _, d := range domains {
		for _, rack := range g.racksOf(d.nodes) {
			of[rack] = append(of[rack], d.id)
		}
	}
	for _, rack := range g.racksOf(g.nodes()) {
		if len(of[rack]) > 1 {
			b.Unobserved(id, "rack "+rack, "run again with --from node, which compares the NVLink domains of the nodes", "the nodes of rack %s are in %d NVLink domains: %s", rack, len(of[rack]), strings.Join(of[rack], ", "))
		}
	}
}

// judgeDomain judges a collective over one domain: the suspect is the domain, unless the log or pairs of its
// nodes name a node.
func (g *Gate) judgeDomain(t test, d domain, obs []check.Observation) check.Judgement {
	want := g.domainJob(t, d)
	var runs runs
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil && o.Target == want.target():
			runs.failed, runs.err = &o, err
			runs.count++
		case err != nil || f.test().program != t.program:
		case f.Scope == ScopeDomain && f.Domain == d.id:
			runs.all = g.reviewRun(o.ID, f)
			runs.count++
		case f.Scope == ScopeNode || f.Scope == ScopePair || f.Scope == ScopeGroup:
			if !slices.ContainsFunc(f.Nodes, func(n string) bool { return !slices.Contains(d.nodes, n) }) {
				runs.trials = append(runs.trials, g.trial(o.ID, f))
			}
		}
	}
	if j, ok := exactlyOne(runs, want.target(), want.name(), remedyOnce); !ok {
		return j
	}
	j := g.localised(runs.all, d.nodes, runs.trials, g.summary(want.target(), runs.all.f))
	nodes := fmt.Sprintf("%s (%s): ", want.target(), g.describeNodes(d))
	for i := range j.Findings {
		f := &j.Findings[i]
		f.Message = nodes + f.Message
		if f.Suspect == domainName(d.id) && f.Remedy == remedySlow || strings.Contains(f.Suspect, "<->") {
			f.Remedy = remedySwitch
		}
	}
	if j.Verdict != check.Passed {
		j.Reason = j.Findings[0].Message
	}
	return j
}

// describeNodes are the nodes of a domain with their racks, if they have any.
func (g *Gate) describeNodes(d domain) string {
	text := list(d.nodes)
	if racks := g.racksOf(d.nodes); len(racks) > 0 {
		text += "; rack " + list(racks)
	}
	return text
}

// withDomains adds the NVLink domains that fail alone to a failure of the run over all nodes, before its own
// findings. If all are fast, the network between them is the suspect. Domains are not run after a failure that
// names a node.
func withDomains(j check.Judgement, domains []check.Judgement) check.Judgement {
	var failed []check.Finding
	good, reason := 0, ""
	for _, d := range domains {
		switch d.Verdict {
		case check.Passed:
			good++
		case check.Failed:
			if len(failed) == 0 {
				reason = d.Reason
			}
			failed = append(failed, d.Findings...)
		}
		j.Figures = append(j.Figures, d.Figures...)
	}
	switch {
	case len(failed) > 0:
		j.Reason, j.Findings = reason, slices.Concat(failed, j.Findings)
	case good > 0 && good == len(domains):
		j.Findings[0].Message += "; each NVLink domain alone is fast: suspect the network between them"
	case good > 0:
		j.Findings[0].Message += fmt.Sprintf("; %d of %d runs by NVLink domain have no result", len(domains)-good, len(domains))
	}
	return j
}
