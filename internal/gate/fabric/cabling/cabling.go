// Package cabling compares a fabric as wired with the fabric as designed, port by port. It is
// pure.
package cabling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// End is a port: the name of its node and its number, 0 for the only port of an adapter.
type End struct {
	Node string `json:"node"`
	Port int    `json:"port,omitempty"`
}

// String is "leaf-3/port5" or "gpu-02/mlx5_3".
func (e End) String() string {
	if e.Port == 0 {
		return e.Node
	}
	return fmt.Sprintf("%s/port%d", e.Node, e.Port)
}

// Link is a cable. A is less than B.
type Link struct {
	A End `json:"a"`
	B End `json:"b"`
}

// NewLink returns the link of two ends, in any order.
func NewLink(a, b End) Link {
	if compareEnds(b, a) < 0 {
		a, b = b, a
	}
	return Link{a, b}
}

// String is "gpu-02/mlx5_3 to leaf-3/port2".
func (l Link) String() string { return l.A.String() + " to " + l.B.String() }

func compareEnds(a, b End) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
}

func compareLinks(a, b Link) int { return cmp.Or(compareEnds(a.A, b.A), compareEnds(a.B, b.B)) }

// The kinds of differences.
const (
	Missing = "missing" // a cable of the design is missing
	Extra   = "extra"   // a cable joins two ports that the design leaves free
	Moved   = "moved"   // one end of a cable is in another port
	Swapped = "swapped" // two cables have exchanged one end
	Rewired = "rewired" // several cables are in the ports of each other
)

// Difference is one error of the cabling: the smallest set of designed and wired links that
// explain each other.
type Difference struct {
	Kind     string `json:"kind"`
	Designed []Link `json:"designed,omitempty"`
	Wired    []Link `json:"wired,omitempty"`
}

// String describes the difference with all its ports.
func (d Difference) String() string {
	switch d.Kind {
	case Missing:
		return "no link " + d.Designed[0].String()
	case Extra:
		return "link " + d.Wired[0].String() + " is not in the design"
	case Moved:
		return fmt.Sprintf("link %s is wired as %s", d.Designed[0], d.Wired[0])
	}
	return fmt.Sprintf("links %s are wired as %s", list(d.Designed), list(d.Wired))
}

func list(links []Link) string {
	var out []string
	for _, l := range links {
		out = append(out, l.String())
	}
	return strings.Join(out, ", ")
}

// Compare returns the differences in order. A port has at most one link in each list. In both
// lists together a port has at most two different links, so that the links that are in one list
// only form paths and cycles: each is one difference.
func Compare(designed, wired []Link) []Difference {
	design, wiring := index(designed), index(wired)
	at := map[End][]Link{} // links that are in one list only
	for _, from := range []struct{ of, other map[Link]bool }{{design, wiring}, {wiring, design}} {
		for l := range from.of {
			if !from.other[l] {
				at[l.A], at[l.B] = append(at[l.A], l), append(at[l.B], l)
			}
		}
	}
	var out []Difference
	seen := map[End]bool{}
	for _, start := range slices.SortedFunc(maps.Keys(at), compareEnds) {
		if seen[start] {
			continue
		}
		links := map[Link]bool{}
		reach(start, at, seen, links)
		d := Difference{}
		for _, l := range slices.SortedFunc(maps.Keys(links), compareLinks) {
			if design[l] {
				d.Designed = append(d.Designed, l)
			} else {
				d.Wired = append(d.Wired, l)
			}
		}
		d.Kind = kind(len(d.Designed), len(d.Wired), links)
		out = append(out, d)
	}
	return out
}

func index(links []Link) map[Link]bool {
	out := map[Link]bool{}
	for _, l := range links {
		out[NewLink(l.A, l.B)] = true
	}
	return out
}

// reach collects the links of the path or cycle of an end.
func reach(start End, at map[End][]Link, seen map[End]bool, links map[Link]bool) {
	queue := []End{start}
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		if seen[e] {
			continue
		}
		seen[e] = true
		for _, l := range at[e] {
			links[l] = true
			queue = append(queue, l.A, l.B)
		}
	}
}

func kind(designed, wired int, links map[Link]bool) string {
	ends := map[End]bool{}
	for l := range links {
		ends[l.A], ends[l.B] = true, true
	}
	switch {
	case wired == 0:
		return Missing
	case designed == 0:
		return Extra
	case designed == 1 && wired == 1:
		return Moved
	case designed == 2 && wired == 2 && len(ends) == len(links): // a cycle
		return Swapped
	default:
		return Rewired
	}
}
