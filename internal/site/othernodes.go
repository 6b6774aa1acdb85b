package site

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// OfOtherSite reports whether OtherNodes have a node, by its name or the host label of its series: ignoring case, and with or
// without its domain.
func (i Inventory) OfOtherSite(name string) bool {
	return slices.ContainsFunc(i.OtherNodes, func(pattern string) bool { return matchesNode(pattern, name) })
}

func matchesNode(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	short, _, _ := strings.Cut(name, ".")
	return slices.ContainsFunc([]string{name, short}, func(n string) bool {
		ok, err := path.Match(pattern, n)
		return ok && err == nil
	})
}

// otherNodes refuses patterns that would hide nodes of the site.
func (v *validator) otherNodes(inv *Inventory) {
	v.unique("inventory.otherNodes", inv.OtherNodes)
	for i, pattern := range inv.OtherNodes {
		key := fmt.Sprintf("inventory.otherNodes.%d", i)
		if _, err := path.Match(pattern, ""); err != nil {
			v.add(key, "invalid pattern %q: must be a node's name with * and ?, such as \"gpu-l40s-*\"", pattern)
		}
		for _, n := range inv.Nodes {
			if matchesNode(pattern, n.Name) {
				v.add(key, "%q matches %q, which is the site's own: it would not be judged", pattern, n.Name)
				break
			}
		}
	}
}
