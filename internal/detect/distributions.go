package detect

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/distribution"
	"github.com/firstlight/firstlight/internal/site"
)

// distributions are those of the nodes and of the API server.
type distributions struct {
	groups []distribution.Group
	server distribution.Found
	// version is that of the API server; unread is why it is not known.
	version, unread string
}

func (s *Snapshot) distributions() (distributions, error) {
	nodes := make([]distribution.Node, 0, len(s.Nodes))
	for i := range s.Nodes {
		n, err := distribution.NodeOf(&s.Nodes[i])
		if err != nil {
			return distributions{}, err
		}
		nodes = append(nodes, n)
	}
	d := distributions{version: s.Version, unread: s.Unread[unreadVersion]}
	var err error
	if d.groups, err = distribution.Groups(nodes); err != nil {
		return d, err
	}
	d.server, err = distribution.OfServer(s.Version)
	return d, err
}

// describe writes what the nodes and the API server show, and what the GPU Operator needs where that differs.
func (d distributions) describe(p *page) {
	p.note(0, "distribution: %s; API server %s", cmp.Or(distribution.Describe(d.groups), "no node"), cmp.Or(d.version, "of unknown version: "+d.unread))
	if d.server.Known() && !slices.ContainsFunc(d.groups, func(g distribution.Group) bool { return g.Name == d.server.Name }) {
		p.note(0, "the API server is that of %s, and no node is: it may be that of a virtual cluster", d.server.Name)
	}
	for _, g := range d.groups {
		if c := g.Containerd; c.Differs() {
			p.note(0, "%s has a containerd of its own: the container toolkit of the GPU Operator needs toolkit.env CONTAINERD_SOCKET=%s, and CONTAINERD_CONFIG, where it is set, a file in %s; %s", g.Name, c.Sockets[0], c.Config[0], c.Page())
		}
	}
}

// spine is that of the nodes, which must agree on it.
func (d distributions) spine() value {
	spines := map[string]bool{}
	for _, g := range d.groups {
		spines[cmp.Or(g.Spine, site.SpineKubernetes)] = true
	}
	text := "the distribution of the nodes: " + distribution.Describe(d.groups)
	switch {
	case len(d.groups) == 0:
		return todo(cmp.Or(d.server.Spine, site.SpineKubernetes), "the cluster has no nodes")
	case len(spines) > 1:
		return todo(site.SpineKubernetes, "nodes of different distributions: %s; spine k3s needs k3s on every node of the inventory", distribution.Describe(d.groups))
	case spines[site.SpineKubernetes]:
		return seen(site.SpineKubernetes, "%s", text)
	default:
		return seen(d.groups[0].Spine, "%s", text)
	}
}
