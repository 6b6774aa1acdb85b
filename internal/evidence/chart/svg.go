package chart

import (
	"fmt"
	"html/template"
	"strings"
)

const (
	width, height                  = 720.0, 300.0
	left, right, top, bottomMargin = 62.0, 18.0, 16.0, 44.0
	maxMarks                       = 80 // points that can be pointed at, a series
)

// Colours is the number of series colours; further series reuse them.
const Colours = 6

// SVG draws the chart. Classes: axis, grid, tick, label, limit, and s0..s5 by
// series.
func (c Chart) SVG() template.HTML {
	d := newDrawing(c)
	switch {
	case c.Network != nil:
		d.network()
	case c.inRows():
		d.rows()
	default:
		d.points()
	}
	return template.HTML(d.b.String()) //nolint:gosec // every text in it goes through esc
}

func (d *drawing) points() {
	d.open()
	d.grid()
	for i, s := range d.c.Series {
		d.series(i%Colours, s)
	}
	d.limits()
	d.b.WriteString("</svg>")
}

type drawing struct {
	c    Chart
	x, y axis
	b    strings.Builder
}

func newDrawing(c Chart) *drawing {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range finitePoints(s.Points) {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			switch s.Kind {
			case Ranges:
				ys = append(ys, p.Low, p.High)
			case Bars:
				ys = append(ys, 0)
			case Line, Steps, Spans, Frames:
			}
		}
	}
	for _, l := range c.Limits {
		if !isFinite(l.Value) {
			continue
		}
		if l.Vertical {
			xs = append(xs, l.Value)
		} else {
			ys = append(ys, l.Value)
		}
	}
	d := &drawing{
		c: c,
		x: newAxis(c.X.Scale, xs, left, width-right),
		y: newAxis(c.Y.Scale, ys, height-bottomMargin, top),
	}
	if len(c.X.Labels) > 0 {
		d.x = labelAxis(c.X.Labels, left, width-right)
	}
	return d
}

func esc(s string) string { return template.HTMLEscapeString(s) }

func (d *drawing) open() {
	fmt.Fprintf(&d.b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, esc(d.c.Title))
}

func (d *drawing) grid() {
	for _, t := range d.y.ticks {
		y := d.y.at(t)
		fmt.Fprintf(&d.b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>`, left, width-right, y, y)
		fmt.Fprintf(&d.b, `<text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, left-8, y+4, esc(formatValue(t, d.c.Y.Scale)))
	}
	for _, t := range d.x.ticks {
		x := d.x.at(t)
		fmt.Fprintf(&d.b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>`, x, x, height-bottomMargin, height-bottomMargin+4)
		fmt.Fprintf(&d.b, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, x, height-bottomMargin+17, esc(d.c.X.text(t)))
	}
	fmt.Fprintf(&d.b, `<line class="axis" x1="%g" x2="%g" y1="%g" y2="%g"/>`, left, width-right, height-bottomMargin, height-bottomMargin)
	fmt.Fprintf(&d.b, `<text class="label" x="%g" y="%g" text-anchor="middle">%s</text>`, (left+width-right)/2, height-6, esc(d.c.X.Label))
	mid := (top + height - bottomMargin) / 2
	fmt.Fprintf(&d.b, `<text class="label" transform="translate(14 %g) rotate(-90)" text-anchor="middle">%s</text>`, mid, esc(d.c.Y.Label))
}

func (d *drawing) series(colour int, s Series) {
	points := finitePoints(s.Points)
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&d.b, `<g class="s%d">`, colour)
	switch s.Kind {
	case Ranges:
		d.ranges(s, points)
	case Bars:
		d.bars(s, points)
	case Line, Steps:
		fmt.Fprintf(&d.b, `<path class="line" d="%s"/>`, d.path(s.Kind, points))
		d.marks(s, points)
	case Spans, Frames: // drawn by rows
	}
	d.b.WriteString("</g>")
}

// path joins the points; in steps, the height changes only at a value.
func (d *drawing) path(k Kind, points []Point) string {
	var b strings.Builder
	if k == Steps {
		fmt.Fprintf(&b, "M%.1f %.1f", d.x.at(points[0].X), d.y.at(0))
	}
	for i, p := range points {
		switch {
		case k == Steps:
			fmt.Fprintf(&b, "H%.1fV%.1f", d.x.at(p.X), d.y.at(p.Y))
		case i == 0:
			fmt.Fprintf(&b, "M%.1f %.1f", d.x.at(p.X), d.y.at(p.Y))
		default:
			fmt.Fprintf(&b, "L%.1f %.1f", d.x.at(p.X), d.y.at(p.Y))
		}
	}
	return b.String()
}

// marks are what can be pointed at.
func (d *drawing) marks(s Series, points []Point) {
	every := len(points)/maxMarks + 1
	class := "mark"
	if s.Kind == Steps {
		class = "mark quiet" // its steps are marks enough
	}
	for i := 0; i < len(points); i += every {
		p := points[i]
		fmt.Fprintf(&d.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="2.6"><title>%s</title></circle>`, class, d.x.at(p.X), d.y.at(p.Y), esc(d.hint(s, p)))
	}
}

func (d *drawing) ranges(s Series, points []Point) {
	for _, p := range points {
		x := d.x.at(p.X)
		hint := fmt.Sprintf("%s, 5 %% %s to 95 %% %s", d.hint(s, p), formatValue(p.Low, d.c.Y.Scale), formatValue(p.High, d.c.Y.Scale))
		fmt.Fprintf(&d.b, `<g><title>%s</title><line class="range" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, esc(hint), x, x, d.y.at(p.Low), d.y.at(p.High))
		fmt.Fprintf(&d.b, `<circle class="dot" cx="%.1f" cy="%.1f" r="3.4"/></g>`, x, d.y.at(p.Y))
	}
}

func (d *drawing) bars(s Series, points []Point) {
	broad := min(46, 0.6*(d.x.to-d.x.from)/(d.x.hi-d.x.low))
	for _, p := range points {
		y := d.y.at(p.Y)
		fmt.Fprintf(&d.b, `<rect class="bar-mark" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"><title>%s</title></rect>`,
			d.x.at(p.X)-broad/2, y, broad, d.y.at(0)-y, esc(d.hint(s, p)))
	}
}

func (d *drawing) hint(s Series, p Point) string {
	x, y := d.c.X.text(p.X), formatValue(p.Y, d.c.Y.Scale)
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", s.Name, x, d.c.X.Unit)) + ", " + strings.TrimSpace(y+" "+d.c.Y.Unit)
}

func (d *drawing) limits() {
	for _, l := range d.c.Limits {
		if !isFinite(l.Value) {
			continue
		}
		if l.Vertical {
			x := d.x.at(l.Value)
			anchor, dx := "start", 5.0
			if x > width*0.7 {
				anchor, dx = "end", -5.0
			}
			fmt.Fprintf(&d.b, `<line class="limit" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>`, x, x, top, height-bottomMargin)
			fmt.Fprintf(&d.b, `<text class="limit-text" x="%.1f" y="%g" text-anchor="%s">%s</text>`, x+dx, top+10, anchor, esc(l.Name))
			continue
		}
		y := d.y.at(l.Value)
		fmt.Fprintf(&d.b, `<line class="limit" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>`, left, width-right, y, y)
		fmt.Fprintf(&d.b, `<text class="limit-text" x="%g" y="%.1f">%s</text>`, left+6, y-5, esc(l.Name))
	}
}
