package chart

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

const (
	rowHeight  = 26.0
	spanHeight = 14.0
	thinnest   = 2.0 // pixels of a span that takes no time
)

// inRows reports whether the chart has rows: its series are spans of X, each in
// the row that Y numbers from the top, and Y.Labels names the rows.
func (c Chart) inRows() bool {
	return slices.ContainsFunc(c.Series, func(s Series) bool { return s.Kind == Spans || s.Kind == Frames })
}

// rows draws a chart of rows; it is as high as it has rows.
func (d *drawing) rows() {
	bottom := top + rowHeight*float64(max(1, len(d.c.Y.Labels)))
	edge := labelRoom(d.c.Y.Labels)
	var xs []float64
	for _, s := range d.c.Series {
		for _, p := range finitePoints(s.Points) {
			xs = append(xs, p.Low, p.High)
		}
	}
	d.x = newAxis(d.c.X.Scale, xs, edge, width-right-70) // room for the values behind the spans
	fmt.Fprintf(&d.b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, bottom+bottomMargin, esc(d.c.Title))
	for _, t := range d.x.ticks {
		x := d.x.at(t)
		fmt.Fprintf(&d.b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>`, x, x, top, bottom)
		fmt.Fprintf(&d.b, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, x, bottom+17, esc(d.c.X.text(t)))
	}
	fmt.Fprintf(&d.b, `<line class="axis" x1="%g" x2="%g" y1="%g" y2="%g"/>`, edge, width-right, bottom, bottom)
	fmt.Fprintf(&d.b, `<text class="label" x="%g" y="%g" text-anchor="middle">%s</text>`, (edge+width-right)/2, bottom+bottomMargin-6, esc(d.c.X.Label))
	for i, label := range d.c.Y.Labels {
		fmt.Fprintf(&d.b, `<text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, edge-8, middle(float64(i))+4, esc(label))
	}
	for _, kind := range []Kind{Frames, Spans} { // spans and their values lie over the frames
		for i, s := range d.c.Series {
			if s.Kind == kind {
				d.spans(i%Colours, s)
			}
		}
	}
	d.b.WriteString("</svg>")
}

func (d *drawing) spans(colour int, s Series) {
	fmt.Fprintf(&d.b, `<g class="s%d">`, colour)
	for _, p := range finitePoints(s.Points) {
		d.span(s, p)
	}
	d.b.WriteString("</g>")
}

// middle is the pixel of a row.
func middle(row float64) float64 { return top + rowHeight*(row+0.5) }

func labelRoom(labels []string) float64 {
	longest := 0
	for _, l := range labels {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	return max(left, letterWidth*float64(longest)+labelGap+8)
}

// span is one bar with how long it is, or its frame.
func (d *drawing) span(s Series, p Point) {
	from, to := d.x.at(p.Low), d.x.at(p.High)
	row := max(0, min(p.Y, float64(len(d.c.Y.Labels)-1)))
	class, high := "span", spanHeight
	if s.Kind == Frames {
		class, high = "frame", spanHeight+6
	}
	length := formatValue(math.Round(100*(p.High-p.Low))/100, d.c.X.Scale) + " " + d.c.X.Unit
	name := d.c.Y.Labels
	hint := s.Name
	if i := int(row); i >= 0 && i < len(name) {
		hint = name[i] + ", " + s.Name
	}
	fmt.Fprintf(&d.b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%g" rx="2"><title>%s: %s</title></rect>`,
		class, from, middle(row)-high/2, max(thinnest, to-from), high, esc(hint), esc(length))
	if s.Kind == Spans {
		fmt.Fprintf(&d.b, `<text class="tick value" x="%.1f" y="%.1f">%s</text>`, max(from+thinnest, to)+6, middle(row)+4, esc(length))
	}
}
