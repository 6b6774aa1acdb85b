package node

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeNodes requires that each ready daemon's IMEX domain has the nodes of the NVLink domain.
func (d *imexDomain) judgeNodes(domains map[*host]string) {
	lacking, surplus := map[*host][]*host{}, map[string][]*host{} // the reporters by what their lists lack, and have
	var reporters []*host
	for _, h := range d.members {
		if _, ready := d.own[h]; !ready {
			continue
		}
		reporters = append(reporters, h)
		listed := d.list(h, domains, surplus)
		for _, peer := range d.members {
			if !listed[peer] && peer.imex.ok() {
				lacking[peer] = append(lacking[peer], h)
			}
		}
	}
	d.judgeLacking(lacking, reporters)
	for _, entry := range slices.Sorted(maps.Keys(surplus)) {
		by := surplus[entry]
		if len(by) == len(reporters) && len(by) > 1 {
			for _, h := range by {
				d.failed[h] = true
			}
			d.Fail(by[0].imex.obs.ID, entry, remedyIMEXNodes, "is in the IMEX domain of %d nodes, and not in their NVLink domain %s", len(by), d.nvlink)
			continue
		}
		for _, h := range by {
			d.fail(h, h, remedyIMEXNodes, "its IMEX domain has %s, which is not in its NVLink domain %s", entry, d.nvlink)
		}
	}
}

// list is the hosts of the IMEX domain that h reports. It adds h to the surplus entries of its domain.
func (d *imexDomain) list(h *host, domains map[*host]string, surplus map[string][]*host) map[*host]bool {
	listed, numbers := map[*host]bool{}, map[int]bool{}
	for _, n := range h.imex.fig.Domain.Nodes {
		peer := d.names.host(n.Host)
		if numbers[n.Number] || peer != nil && listed[peer] {
			d.fail(h, h, remedyIMEXNodes, "its IMEX domain lists %s twice, or two nodes as number %d", n.Host, n.Number)
		}
		switch {
		case peer == nil && d.names.other(n.Host) != "":
			d.others = addOnce(d.others, n.Host)
		case peer == nil && d.names.leftOut(n.Host):
			d.unseen = addOnce(d.unseen, n.Host)
		case peer == nil && d.names.mayBeOther(n.Host):
			d.unmatched = addOnce(d.unmatched, n.Host)
		case peer == nil:
			surplus[n.Host] = append(surplus[n.Host], h)
		case domains[peer] != d.nvlink && domains[peer] != "": // without one, reported already
			surplus[peer.name] = append(surplus[peer.name], h)
		}
		listed[peer], numbers[n.Number] = true, true
	}
	return listed
}

func addOnce(list []string, entry string) []string {
	if slices.Contains(list, entry) {
		return list
	}
	return append(list, entry)
}

// judgeOthers reports the entries of nodes that another gate judges.
func (d *imexDomain) judgeOthers() {
	i := slices.IndexFunc(d.members, func(h *host) bool { return h.imex.ok() })
	if i < 0 {
		return
	}
	seen := d.members[i]
	if len(d.others) > 0 {
		d.Note(seen.imex.obs.ID, seen.name, "", "its IMEX domain has %s: nodes that another gate judges", check.JoinNames(d.others, 4))
	}
	if len(d.unmatched) > 0 {
		d.Unobserved(seen.imex.obs.ID, seen.name, remedyIMEXOther, "its IMEX domain has %s: whether they are %s is unknown", check.JoinNames(d.unmatched, 4), check.JoinNames(d.names.unmatched, 4))
	}
}

// judgeLacking names the node that no other lists, else the hosts whose lists lack it.
func (d *imexDomain) judgeLacking(lacking map[*host][]*host, reporters []*host) {
	for _, peer := range d.members {
		by := lacking[peer]
		others := len(reporters)
		if slices.Contains(reporters, peer) {
			others--
		}
		switch {
		case len(by) == 0:
		case len(by) == others && others > 1:
			d.fail(peer, by[0], remedyIMEXNodes, "is not in the IMEX domain of the %d other nodes of its NVLink domain", others)
		default:
			for _, h := range by {
				d.fail(h, h, remedyIMEXNodes, "its IMEX domain lacks %s, which is in its NVLink domain", peer.name)
			}
		}
	}
}

// imexPair is a connection that is not up, as one of its ends reports it.
type imexPair struct {
	from, to *host
	state    string
}

// judgeConnections requires that each ready daemon is connected to every node of its domain. Each host's
// own report counts. The node with most broken connections is the suspect, until all are explained.
func (d *imexDomain) judgeConnections() {
	var broken []imexPair
	for _, h := range d.members {
		own, ready := d.own[h]
		if !ready {
			continue
		}
		for _, n := range h.imex.fig.Domain.Nodes {
			peer := d.names.host(n.Host)
			switch state := own.Connections[n.Number]; {
			case peer == nil || d.failed[peer] || d.failed[h] || state == imexConnected:
			case state == "":
				d.Unobserved(h.imex.obs.ID, h.name, remedyIMEXSeen, "does not report its IMEX connection to %s", peer.name)
			default:
				broken = append(broken, imexPair{h, peer, state})
			}
		}
	}
	for len(broken) > 0 {
		peers := map[*host]map[*host]bool{}
		for _, p := range broken {
			for _, end := range [][2]*host{{p.from, p.to}, {p.to, p.from}} {
				if peers[end[0]] == nil {
					peers[end[0]] = map[*host]bool{}
				}
				peers[end[0]][end[1]] = true
			}
		}
		worst := broken[0].from
		for _, h := range d.members {
			if len(peers[h]) > len(peers[worst]) {
				worst = h
			}
		}
		p := broken[slices.IndexFunc(broken, func(p imexPair) bool { return p.from == worst || p.to == worst })]
		switch {
		case len(peers[worst]) == 1 && p.from != p.to:
			d.fail(p.from, p.from, remedyIMEXPath, "its IMEX connection to %s is %s, expected %s", p.to.name, p.state, imexConnected)
			d.fail(p.to, p.from, remedyIMEXPath, "the IMEX connection of %s to it is %s, expected %s", p.from.name, p.state, imexConnected)
		default:
			d.fail(worst, p.from, remedyIMEXPath, "%d of its IMEX connections are broken: that of %s to %s is %s, expected %s", len(peers[worst]), p.from.name, p.to.name, p.state, imexConnected)
		}
		broken = slices.DeleteFunc(broken, func(p imexPair) bool { return d.failed[p.from] || d.failed[p.to] })
	}
}
