package collective

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/site"
)

// place maps ranks to nodes.
type place struct {
	// nodes maps host names in the pods to nodes.
	nodes map[string]string
	ranks map[int]string
}

// where reads the place from the table of devices and the pods' placement.
func (f Figures) where() place {
	p := place{nodes: map[string]string{}, ranks: map[int]string{}}
	for _, n := range f.Nodes {
		p.nodes[n] = n
		p.nodes[short(n)] = n
	}
	for host, node := range f.Outcome.Hosts {
		p.nodes[host] = node
		p.nodes[short(host)] = node
	}
	for _, pod := range f.Outcome.Pods {
		p.nodes[pod.Pod] = pod.Node
		if pod.Host != "" {
			p.nodes[pod.Host] = pod.Node
		}
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

// node is the node of a host; an unknown host keeps its name.
func (p place) node(host string) string {
	if n, ok := p.nodes[host]; ok {
		return n
	}
	if n, ok := p.nodes[short(host)]; ok {
		return n
	}
	if n, ok := p.nodes[short(site.NodeNameOf(host))]; ok {
		return n
	}
	return host
}

func short(host string) string {
	host, _, _ = strings.Cut(host, ".")
	return host
}

// strangers are hosts of ranks outside the job's nodes.
func (p place) strangers(nodes []string) []string {
	found := map[string]bool{}
	for _, node := range p.ranks {
		if !slices.Contains(nodes, node) {
			found[node] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
