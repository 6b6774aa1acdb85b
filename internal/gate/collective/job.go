package collective

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// job is one run of a program of nccl-tests.
type job struct {
	test        test
	scope       string
	nodes       []string
	round       int // of a search; a group may run again in a later round
	repetitions int
	// rail is the only device that NCCL may use; empty: all of the site's.
	rail string
	// domain is the NVLink domain of a job of ScopeDomain.
	domain string
}

// on is the job on a group of nodes.
func (j job) on(nodes []string) job {
	j.nodes, j.scope = nodes, scopeOf(nodes)
	return j
}

// name is unique within a run, and short enough for a pod's host name.
func (j job) name() string {
	switch {
	case j.rail != "":
		return "collective-rail-" + strings.ReplaceAll(strings.ToLower(j.rail), "_", "-")
	case j.scope == ScopeAll && j.test.isAllReduce():
		return "collective"
	case j.scope == ScopeAll:
		return "collective-" + j.test.name
	}
	scope := j.scope
	if j.scope == ScopeDomain {
		scope = "domain"
	}
	h := fnv.New32a()
	_, _ = fmt.Fprintln(h, j.round) // never fails
	if !j.test.isAllReduce() {
		_, _ = fmt.Fprintln(h, j.test.name) // never fails
	}
	for _, n := range j.nodes {
		_, _ = fmt.Fprintln(h, n) // never fails
	}
	return fmt.Sprintf("collective-%s-%08x", scope, h.Sum32())
}

// target is the target of the job's observation.
func (j job) target() string {
	text := target(j.scope, j.nodes)
	if j.domain != "" {
		text = domainName(j.domain)
	}
	if !j.test.isAllReduce() {
		text += ", " + j.test.name
	}
	if j.rail != "" {
		text += ", rail " + j.rail
	}
	return text
}

// hcas are the devices that NCCL may use.
func (g *Gate) hcas(rail string) []string {
	if rail != "" {
		return []string{rail}
	}
	return g.site.Fabric.HCAs
}

// all is the job of a collective over all nodes.
func (g *Gate) all(t test) job {
	return job{test: t, scope: ScopeAll, nodes: g.nodes(), repetitions: g.repetitions()}
}

// suite are the tests that the site demands, the all-reduce first.
func (g *Gate) suite() []test {
	var out []test
	for _, name := range g.site.Workloads.Collective.Collectives() {
		if t, ok := testOf(name); ok {
			out = append(out, t)
		}
	}
	return out
}

// rails are the jobs of the all-reduce over each rail; none if the site does not demand them.
func (g *Gate) rails() []job {
	if !g.site.Workloads.Collective.ByRail {
		return nil
	}
	var out []job
	for _, hca := range g.site.Fabric.HCAs {
		j := g.all(tests[0])
		j.scope, j.rail = ScopeRail, hca
		out = append(out, j)
	}
	return out
}
