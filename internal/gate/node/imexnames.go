package node

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/site"
)

// imexNames finds the host of an entry in an IMEX domain: an address or a name.
type imexNames struct {
	hosts map[string]*host // nil for what several hosts have
	// left are names of nodes that failed or are not observed. Their addresses are unknown: as many
	// unknown addresses may be theirs.
	left    []string
	unknown map[string]bool
	// others are the names of nodes that another gate judges, by their names and addresses; unmatched
	// are those of them that no entry names.
	others    map[string]string
	unmatched []string
}

func newIMEXNames(hosts []*host, of site.Inventory) imexNames {
	n := imexNames{hosts: map[string]*host{}, unknown: map[string]bool{}, others: map[string]string{}}
	for _, name := range of.LeftOut {
		if !slices.ContainsFunc(of.Others, func(o site.Node) bool { return o.Name == name }) {
			n.left = append(n.left, name)
		}
	}
	for _, o := range of.Others {
		address, _, err := net.SplitHostPort(o.Address)
		if err != nil {
			address = o.Address
		}
		n.others[imexKey(o.Name)] = o.Name
		if address != "" {
			n.others[imexKey(address)] = o.Name
		}
	}
	for _, h := range hosts {
		if !h.imex.ok() {
			n.left = append(n.left, h.name)
			continue
		}
		for _, key := range append([]string{h.name, h.facts.fig.Host.Name}, h.imex.fig.Addresses...) {
			key = imexKey(key)
			if other, ok := n.hosts[key]; ok && other != h {
				n.hosts[key] = nil
				continue
			}
			n.hosts[key] = h
		}
	}
	named := map[string]bool{}
	for _, h := range hosts {
		if h.imex.fig.Domain == nil {
			continue
		}
		for _, entry := range h.imex.fig.Domain.Nodes {
			key := imexKey(entry.Host)
			switch other := n.others[key]; {
			case n.hosts[key] != nil || slices.Contains(n.left, key):
			case other != "":
				named[other] = true
			default:
				n.unknown[key] = true
			}
		}
	}
	for _, o := range of.Others {
		if !named[o.Name] {
			n.unmatched = append(n.unmatched, o.Name)
		}
	}
	return n
}

// imexKey is an address in its canonical form, or a name without its domain.
func imexKey(text string) string {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.String()
	}
	name, _, _ := strings.Cut(text, ".")
	return name
}

// host is the host of an entry; nil if the site has none.
func (n imexNames) host(entry string) *host { return n.hosts[imexKey(entry)] }

// other is the node of an entry that another gate judges; "" for another entry.
func (n imexNames) other(entry string) string { return n.others[imexKey(entry)] }

// mayBeOther reports whether an entry without a host may be a node that another gate judges, whose
// address in the domain is unknown.
func (n imexNames) mayBeOther(entry string) bool {
	return n.unknown[imexKey(entry)] && len(n.unknown) <= len(n.left)+len(n.unmatched)
}

// leftOut reports whether an entry without a host may be a node that failed or is not observed.
func (n imexNames) leftOut(entry string) bool {
	return slices.Contains(n.left, imexKey(entry)) || n.unknown[imexKey(entry)] && len(n.unknown) <= len(n.left)
}
