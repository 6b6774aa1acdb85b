package chart

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Network is a drawing of nodes in tiers, joined by links. A node is drawn if one of its links is.
type Network struct {
	// Tiers are the labels of the tiers, from the bottom.
	Tiers []string
	// Groups of links are drawn in order until a tier is as wide as the chart. Links of the group that
	// does not fit are drawn one by one; the drawing says how many links and nodes it lacks.
	Groups [][]Link
}

// Link joins two ports.
type Link struct {
	A, B Port
	// Series is the index of the chart's series that has the link's colour and name.
	Series int
	Dashed bool
	// Hint is the link as text.
	Hint string
}

// Port is one end of a link, at a node of a tier.
type Port struct {
	Tier       int
	Node, Name string
}

// Pixels of a network. Widths are integers, so that their sum does not depend on the order.
const (
	longestName = 16 // runes of a name that are drawn; the hints have the whole name
	glyphWidth  = 7
	portGap     = 8
	nodeGap     = 10
	nodeHeight  = 40.0
	tierStep    = 130.0
	arc         = 46.0 // height of a link between nodes of one tier
)

// node is a node of a tier.
type node struct {
	tier int
	name string
}

// drawnPorts are the names of the ports that are drawn, by node.
type drawnPorts map[node][]string

func (d drawnPorts) with(links ...Link) drawnPorts {
	out := maps.Clone(d)
	for _, l := range links {
		for _, p := range []Port{l.A, l.B} {
			at := node{p.Tier, p.Node}
			if !slices.Contains(out[at], p.Name) {
				out[at] = append(slices.Clone(out[at]), p.Name)
			}
		}
	}
	return out
}

func (d drawnPorts) fit() bool {
	used := map[int]int{}
	for n, ports := range d {
		if used[n.tier] += nodeWidth(n.name, ports) + nodeGap; used[n.tier] > width-left-right {
			return false
		}
	}
	return true
}

func nodeWidth(name string, ports []string) int {
	sum := 0
	for _, p := range ports {
		sum += portWidth(p)
	}
	return max(sum, glyphWidth*utf8.RuneCountInString(shortened(name))+2*portGap)
}

func portWidth(name string) int { return glyphWidth*utf8.RuneCountInString(shortened(name)) + portGap }

// drawn are the links that fit, with their ports.
func (n Network) drawn() ([]Link, drawnPorts) {
	ports := drawnPorts{}
	var links []Link
	for _, group := range n.Groups {
		next := ports.with(group...)
		if next.fit() {
			ports, links = next, append(links, group...)
			continue
		}
		for _, l := range group {
			if next := ports.with(l); next.fit() {
				ports, links = next, append(links, l)
			}
		}
		break
	}
	return links, ports
}

// missing says how many links and nodes are not drawn; empty if all are.
func (n Network) missing(links []Link, ports drawnPorts) string {
	all, nodes := 0, drawnPorts{}
	for _, group := range n.Groups {
		all += len(group)
		nodes = nodes.with(group...)
	}
	if all == len(links) {
		return ""
	}
	return fmt.Sprintf("not drawn: %d of %d links, %d of %d nodes", all-len(links), all, len(nodes)-len(ports), len(nodes))
}

// network draws a chart of a network: the highest tier first.
func (d *drawing) network() {
	n := d.c.Network
	links, ports := n.drawn()
	tiers := map[int]bool{}
	for at := range ports {
		tiers[at.tier] = true
	}
	y := map[int]float64{}
	for i, tier := range slices.Sorted(maps.Keys(tiers)) {
		y[tier] = top + arc + tierStep*float64(len(tiers)-1-i)
	}
	bottom := top + arc + tierStep*float64(max(0, len(tiers)-1)) + nodeHeight
	missing := n.missing(links, ports)
	text := []string{d.c.Title}
	for _, l := range links {
		text = append(text, visible(l.Hint))
	}
	if missing != "" {
		text = append(text, missing)
	}
	fmt.Fprintf(&d.b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, bottom+24, esc(strings.Join(text, "; ")))
	boxes, at := place(ports)
	for _, l := range links {
		d.link(l, at, y)
	}
	for _, b := range boxes {
		edge := y[b.tier]
		fmt.Fprintf(&d.b, `<g><title>%s</title><rect class="box" x="%d" y="%g" width="%d" height="%g" rx="4"/>`, esc(visible(b.name)), b.x, edge, b.width, nodeHeight)
		fmt.Fprintf(&d.b, `<text class="name" x="%g" y="%g" text-anchor="middle">%s</text>`, float64(b.x)+float64(b.width)/2, edge+16, esc(shortened(b.name)))
		for _, p := range ports[b.node] {
			fmt.Fprintf(&d.b, `<text class="tick" x="%g" y="%g" text-anchor="middle">%s</text>`, at[Port{b.tier, b.name, p}], edge+33, esc(shortened(p)))
		}
		d.b.WriteString("</g>")
	}
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		if tier >= 0 && tier < len(n.Tiers) {
			fmt.Fprintf(&d.b, `<text class="label" x="%g" y="%g" text-anchor="end">%s</text>`, left-8, y[tier]+nodeHeight/2+4, esc(n.Tiers[tier]))
		}
	}
	if missing != "" {
		fmt.Fprintf(&d.b, `<text class="label" x="%g" y="%g">%s</text>`, left, bottom+18, missing)
	}
	d.b.WriteString("</svg>")
}

// box is where a node is drawn.
type box struct {
	node
	x, width int
}

// place spreads the nodes of each tier over the width of the chart. The second result is the middle of
// each port.
func place(ports drawnPorts) ([]box, map[Port]float64) {
	var boxes []box
	widths, count := map[int]int{}, map[int]int{}
	for at, names := range ports {
		slices.SortFunc(names, natural)
		b := box{node: at, width: nodeWidth(at.name, names)}
		widths[at.tier] += b.width
		count[at.tier]++
		boxes = append(boxes, b)
	}
	slices.SortFunc(boxes, func(a, b box) int { return cmp.Or(cmp.Compare(b.tier, a.tier), natural(a.name, b.name)) })
	next, centres := map[int]int{}, map[Port]float64{}
	for i, b := range boxes {
		gap := (width - left - right - widths[b.tier]) / (count[b.tier] + 1)
		boxes[i].x = left + gap + next[b.tier]
		next[b.tier] += gap + b.width
		wide := 0
		for _, p := range ports[b.node] {
			wide += portWidth(p)
		}
		x := float64(boxes[i].x) + float64(b.width-wide)/2
		for _, p := range ports[b.node] {
			centres[Port{b.tier, b.name, p}] = x + float64(portWidth(p))/2
			x += float64(portWidth(p))
		}
	}
	return boxes, centres
}

// link draws a straight line between tiers, and an arc above the nodes of one tier.
func (d *drawing) link(l Link, at map[Port]float64, y map[int]float64) {
	a, b := l.A, l.B
	if y[a.Tier] > y[b.Tier] {
		a, b = b, a
	}
	path := fmt.Sprintf("M%g %gL%g %g", at[a], y[a.Tier]+nodeHeight, at[b], y[b.Tier])
	if a.Tier == b.Tier {
		path = fmt.Sprintf("M%g %gC%g %g %g %g %g %g", at[a], y[a.Tier], at[a], y[a.Tier]-arc, at[b], y[b.Tier]-arc, at[b], y[b.Tier])
	}
	class := "line"
	if l.Dashed {
		class = "line dashed"
	}
	fmt.Fprintf(&d.b, `<g class="s%d"><title>%s</title><path class="%s" d="%s"/></g>`, l.Series%Colours, esc(visible(l.Hint)), class, path)
}

// natural has leaf-9 before leaf-10.
func natural(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

func shortened(name string) string {
	if utf8.RuneCountInString(name) > longestName {
		name = string([]rune(name)[:longestName-1]) + "…"
	}
	return visible(name)
}

// visible replaces what a page does not show, or shows elsewhere: control characters and marks of the
// direction of text.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
