package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// Scale says how an axis maps values.
type Scale int

// The scales.
const (
	// Linear from the lowest to the highest value.
	Linear Scale = iota
	// LinearZero is linear and starts at zero.
	LinearZero
	// Bytes is logarithmic, with ticks at powers of two: "1 MiB".
	Bytes
	// Percent is linear from 0 to 100.
	Percent
)

// Kind says how a series is drawn.
type Kind int

// The kinds.
const (
	// Line joins the points.
	Line Kind = iota
	// Steps joins them as a cumulative distribution does.
	Steps
	// Ranges draws each point with its range from Low to High.
	Ranges
	// Bars draws each point as a bar from zero.
	Bars
	// Spans draws each point as a bar from Low to High along X, in the row that Y
	// numbers from the top; Y.Labels names the rows. A chart of rows has nothing but
	// Spans and Frames.
	Spans
	// Frames draws the same as a frame, behind which spans are held.
	Frames
)

// Axis is one axis.
type Axis struct {
	Label string
	// Unit is written behind values when pointing at them.
	Unit  string
	Scale Scale
	// Labels name the values 0, 1, 2 and so on of X, or the rows; others are not
	// shown.
	Labels []string
}

// Point is one value; Low and High are only for Ranges, Spans and Frames.
type Point struct {
	X, Y      float64
	Low, High float64
}

// Series is one set of points.
type Series struct {
	Name   string
	Kind   Kind
	Points []Point
}

// Limit is a horizontal line that the values are compared with.
type Limit struct {
	Name  string
	Value float64
	// Vertical: it is a value of X.
	Vertical bool
}

// Chart is one drawing.
type Chart struct {
	Title string
	// Note describes the chart in one line.
	Note   string
	X, Y   Axis
	Series []Series
	Limits []Limit
	// Network, if set, is drawn instead of axes and points. Its links have the colours of Series.
	Network *Network
}

// Empty says that there is nothing to draw.
func (c Chart) Empty() bool {
	if c.Network != nil {
		return !slices.ContainsFunc(c.Network.Groups, func(g []Link) bool { return len(g) > 0 })
	}
	return !slices.ContainsFunc(c.Series, func(s Series) bool { return len(finitePoints(s.Points)) > 0 })
}

// Distribution is the cumulative distribution of values, in percent.
func Distribution(name string, values []float64) Series {
	sorted := make([]float64, 0, len(values))
	for _, v := range values {
		if isFinite(v) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	s := Series{Name: name, Kind: Steps}
	for i, v := range sorted {
		s.Points = append(s.Points, Point{X: v, Y: 100 * float64(i+1) / float64(len(sorted))})
	}
	return s
}

// Spread is the median of values with their 5th and 95th percentile, at x.
func Spread(x float64, values []float64) Point {
	sorted := slices.Sorted(slices.Values(values))
	return Point{X: x, Y: check.Percentile(sorted, 50), Low: check.Percentile(sorted, 5), High: check.Percentile(sorted, 95)}
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func finitePoints(points []Point) []Point {
	var out []Point
	for _, p := range points {
		if isFinite(p.X) && isFinite(p.Y) && isFinite(p.Low) && isFinite(p.High) {
			out = append(out, p)
		}
	}
	return out
}

// FormatBytes writes a number of bytes as people do: "8 GiB".
func FormatBytes(v float64) string {
	unit := "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, next
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}

// text is how a value is written on the axis.
func (a Axis) text(v float64) string {
	if len(a.Labels) == 0 {
		return formatValue(v, a.Scale)
	}
	if i := int(math.Round(v)); i >= 0 && i < len(a.Labels) {
		return a.Labels[i]
	}
	return ""
}

func formatValue(v float64, s Scale) string {
	if s == Bytes {
		return FormatBytes(v)
	}
	return fmt.Sprintf("%.4g", v)
}
