package collective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// judgedDomains are the judgements of the runs by domain, and of what keeps domains from being known.
type judgedDomains struct {
	domains        int
	problems, runs []check.Judgement
}

// judgeDomains judges the collectives over each NVLink domain, if the site demands it: exactly one run of each. The
// run over all nodes says which domains there are.
func (g *Gate) judgeDomains(obs []check.Observation) (out judgedDomains) {
	if !g.byDomain() {
		return out
	}
	unknown := func(reason, remedy string) judgedDomains {
		return judgedDomains{problems: []check.Judgement{check.NotObserved(reason, check.NewFinding("", "NVLink domains", remedy, "%s", reason))}}
	}
	if !g.profile.MultiNodeNVLink() { // of evidence whose profile was changed
		return unknown("profile "+g.profile.Name+" has no NVLink between nodes", "judge with the profile of the run")
	}
	all := g.runsOf(tests[0], obs).all
	if all == nil {
		return unknown("the NVLink domains are unknown: the run over all nodes shows them", remedyOnce)
	}
	var b check.Builder
	domains, whole := g.domainsOf(&b, all.id, all.f)
	if !whole { // none was run
		b.Unobserved(all.id, "NVLink domains", remedyOnce, "not every node of the run over all nodes has an NVLink domain: the domains were not run")
		b.OmitUnobservedIfFailed()
		out.problems = []check.Judgement{b.Judgement("")}
		return out
	}
	g.judgeRacks(&b, all.id, domains)
	g.judgeSizes(&b, all.id, domains)
	tried := decodeRuns(obs)
	for _, r := range tried {
		if r.err == nil && r.f.Scope == ScopeDomain && (r.f.Rail != "" || !slices.ContainsFunc(domains, func(d domain) bool { return d.id == r.f.Domain })) {
			b.Unobserved(r.id, r.target, remedyOnce, "%s was run: want a domain of the run over all nodes, and all rails", r.target)
		}
	}
	if !b.Clean() {
		out.problems = []check.Judgement{b.Judgement("")}
	}
	out.domains = len(domains)
	for _, d := range domains {
		for _, t := range g.suite() {
			j := g.judgeDomain(t, d, tried)
			out.runs = append(out.runs, j)
			if t.isAllReduce() && j.Verdict == check.Failed {
				break // the others were not run
			}
		}
	}
	return out
}

// judgeSizes requires domains of several nodes, and no more of them than the nodes fill; nodes that are left out fill
// them too. Racks may have spare trays: where every node has a rack, judgeRacks judges the number.
func (g *Gate) judgeSizes(b *check.Builder, id string, domains []domain) {
	most := g.profile.Node.NVLinkDomain.Value
	for _, d := range domains {
		switch {
		case len(d.nodes) == 1:
			b.Unobserved(id, domainName(d.id), remedyNoFabric, "%s has one node, %s: no run shows NVLink between it and other nodes", domainName(d.id), d.nodes[0])
		case float64(len(d.nodes)) > most:
			b.Unobserved(id, domainName(d.id), remedyNoFabric, "%s has %d nodes, expected at most %g", domainName(d.id), len(d.nodes), most)
		}
	}
	inventory := g.site.Inventory
	fill := g.profile.NVLinkDomains(len(inventory.Nodes) + len(inventory.LeftOut))
	if len(domains) > fill && slices.ContainsFunc(inventory.Nodes, func(n site.Node) bool { return n.Rack == "" }) {
		b.Unobserved(id, "NVLink domains", "name the rack of each node in the site's inventory (rack), then "+remedyOnce,
			"the nodes are in %d NVLink domains and fill %d: whether they are in the right ones is unknown without their racks", len(domains), fill)
	}
}

// decodedRun is an observation of a run; all domains read it.
type decodedRun struct {
	id, target string
	f          Figures
	err        error
}

func decodeRuns(obs []check.Observation) []decodedRun {
	var out []decodedRun
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		out = append(out, decodedRun{id: o.ID, target: o.Target, f: f, err: err})
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
func (g *Gate) judgeDomain(t test, d domain, tried []decodedRun) check.Judgement {
	want := g.domainJob(t, d)
	var runs runs
	for _, o := range tried {
		f := o.f
		switch {
		case o.err != nil && o.target == want.target():
			runs.failed, runs.err = &check.Observation{ID: o.id}, o.err
			runs.count++
		case o.err != nil || f.test().program != t.program:
		case f.Scope == ScopeDomain && f.Domain == d.id:
			runs.all = g.reviewRun(o.id, f)
			runs.count++
		case f.Scope == ScopeNode || f.Scope == ScopePair || f.Scope == ScopeGroup:
			if !slices.ContainsFunc(f.Nodes, func(n string) bool { return !slices.Contains(d.nodes, n) }) {
				runs.trials = append(runs.trials, g.trial(o.id, f))
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
	if j.Verdict != check.Passed && len(j.Findings) > 0 {
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

// explain adds the NVLink domains that fail alone to a failure of the run over all nodes, before its own findings, and
// those without a result after them. If several are fast and the run over all nodes is slow, the network between them
// is the suspect. Domains are not run after a failure that names a node.
func (d judgedDomains) explain(j check.Judgement) check.Judgement {
	var failed, unknown []check.Finding
	good, ran, reason := 0, false, ""
	for _, of := range d.runs {
		ran = ran || of.Verdict == check.Passed || of.Verdict == check.Failed
		if of.Verdict == check.Passed {
			good++
		}
	}
	for i, of := range slices.Concat(d.problems, d.runs) {
		j.Figures = append(j.Figures, of.Figures...)
		switch {
		case of.Verdict == check.Failed:
			if len(failed) == 0 {
				reason = of.Reason
			}
			failed = append(failed, of.Findings...)
		case of.Verdict != check.Passed && (ran || i < len(d.problems)):
			unknown = append(unknown, of.Findings...)
		}
	}
	switch {
	case len(failed) > 0:
		j.Reason, j.Findings = reason, slices.Concat(failed, j.Findings)
	case good == 0 || len(j.Findings) == 0:
	case good < len(d.runs):
		j.Findings[0].Message += fmt.Sprintf("; %d of %d runs by NVLink domain have no result", len(d.runs)-good, len(d.runs))
	case d.domains > 1 && j.Findings[0].Remedy == remedySlow:
		j.Findings[0].Message += "; each NVLink domain alone is fast: suspect the network between them"
	}
	j.Findings = slices.Concat(j.Findings, unknown)
	return j
}
