package watch

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// Unnamed is the check of Cluster with the findings that name no node of the site.
const Unnamed = node.Name

// readings are what the findings of gate node show of each check of each node. missed has the reason
// of a host whose commands did not all run.
func readings(nodes, kinds []string, findings []node.HostFinding, missed map[string]string) []Reading {
	type key struct{ node, kind string }
	by := map[key][]node.HostFinding{}
	unnamed := Reading{Node: Cluster, Check: Unnamed, State: OK}
	for _, f := range findings {
		if !slices.Contains(nodes, f.Node) {
			unnamed = worse(unnamed, f)
			continue
		}
		by[key{f.Node, f.Kind}] = append(by[key{f.Node, f.Kind}], f)
	}
	var out []Reading
	for _, name := range nodes {
		for _, kind := range kinds {
			r := Reading{Node: name, Check: kind, State: OK}
			for _, f := range by[key{name, kind}] {
				if f.NotRun() && missed[name] != "" {
					f.Message = "was not observed: " + missed[name]
				}
				r = worse(r, f)
			}
			out = append(out, r)
		}
	}
	for i := range out {
		first := i / len(kinds) * len(kinds)
		out[i].Findings = reasons(out[i], out[first:first+len(kinds)])
	}
	return append(out, unnamed)
}

// worse adds a finding to a reading. A failed reading has no findings about missing observations.
func worse(r Reading, f node.HostFinding) Reading {
	if f.Verdict == check.Failed && f.Lasting {
		r.Defects = append(r.Defects, defect(f.Finding))
	}
	switch {
	case f.Verdict == check.Failed && r.State != Failed:
		r.State, r.Lasting, r.Findings = Failed, f.Lasting, []check.Finding{f.Finding}
	case f.Verdict == check.Failed:
		r.Lasting, r.Findings = r.Lasting || f.Lasting, append(r.Findings, f.Finding)
	case r.State != Failed:
		r.State, r.Findings = Unobserved, append(r.Findings, f.Finding)
	}
	return r
}

// reasons are the findings of a reading, without that a command was not run if another check of
// the node has the reason.
func reasons(r Reading, ofNode []Reading) []check.Finding {
	if r.State != Unobserved {
		return r.Findings
	}
	notRun := func(f check.Finding) bool {
		return node.HostFinding{Verdict: check.Unobserved, Finding: f}.NotRun()
	}
	explained := slices.ContainsFunc(ofNode, func(o Reading) bool {
		return o.State != OK && slices.ContainsFunc(o.Findings, func(f check.Finding) bool { return !notRun(f) })
	})
	if !explained {
		return r.Findings
	}
	return slices.DeleteFunc(slices.Clone(r.Findings), notRun)
}
