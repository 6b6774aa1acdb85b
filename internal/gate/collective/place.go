package collective

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// place knows on which node each rank is.
type place struct {
	// nodes by host name, as programs in the pods call their host.
	nodes map[string]string
	ranks map[int]string
}

// where reads it from the table of devices and the pods' placement.
func (f Figures) where() place {
	p := place{nodes: map[string]string{}, ranks: map[int]string{}}
	for _, n := range f.Nodes {
		p.nodes[n] = n
		p.nodes[short(n)] = n
	}
	for _, pod := range f.Outcome.Pods {
		p.nodes[pod.Pod] = pod.Node
		p.nodes[fmt.Sprintf("%s-%d", f.Job, pod.Index)] = pod.Node
	}
	for _, run := range f.Runs {
		for _, d := range run.Devices {
			p.ranks[d.Rank] = p.node(d.Host)
		}
	}
	for _, r := range f.NCCL.Ranks {
		if _, known := p.ranks[r.Rank]; !known && r.Rank >= 0 {
			p.ranks[r.Rank] = p.node(r.Host)
		}
	}
	return p
}

// node is the node of a host; a host that is none of ours keeps its own name.
func (p place) node(host string) string {
	if n, ok := p.nodes[host]; ok {
		return n
	}
	if n, ok := p.nodes[short(host)]; ok {
		return n
	}
	return host
}

func short(host string) string {
	host, _, _ = strings.Cut(host, ".")
	return host
}

// strangers are hosts of ranks that are no node of the job.
func (p place) strangers(nodes []string) []string {
	found := map[string]bool{}
	for _, node := range p.ranks {
		if !slices.Contains(nodes, node) {
			found[node] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
