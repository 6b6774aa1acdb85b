package evidence

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
)

// pageFigure is one figure with its bar.
type pageFigure struct {
	check.Figure
	// Bad: the figure violates its limit.
	Bad bool
	// Bar: value and limit can be drawn. Fill and Mark are in percent of the width.
	Bar        bool
	Fill, Mark float64
}

func newPageFigure(f check.Figure) pageFigure {
	met, err := f.Meets()
	p := pageFigure{Figure: f, Bad: !met || err != nil}
	full := max(f.Value, f.Limit) * 1.2
	if (f.Relation == ">=" || f.Relation == "<=") && full > 0 && f.Value >= 0 && f.Limit > 0 {
		p.Bar, p.Fill, p.Mark = true, round1(100*f.Value/full), round1(100*f.Limit/full)
	}
	return p
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// number formats a figure with at most four significant digits below 1000.
func number(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 100:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	case a >= 1:
		return trimZeros(strconv.FormatFloat(v, 'f', 3, 64))
	default:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
}

// Quantity formats a figure; bytes with a binary unit.
func Quantity(v float64, unit string) string {
	if unit == "B" {
		return chart.FormatBytes(v)
	}
	return number(v)
}

// ShownUnit omits units that Quantity prints or that have no symbol.
func ShownUnit(unit string) string {
	switch unit {
	case "B", "1", "fraction":
		return ""
	default:
		return unit
	}
}

// sign is the printed form of a relation.
func sign(relation string) string {
	switch relation {
	case ">=":
		return "≥"
	case "<=":
		return "≤"
	case "==":
		return "="
	default:
		return relation
	}
}

func trimZeros(s string) string {
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// shortDuration formats a duration.
func shortDuration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// drawCharts draws the charts of a step that are not empty.
func drawCharts(step string, obs []check.Observation, charts ChartsFor) []pageChart {
	if charts == nil {
		return nil
	}
	var out []pageChart
	for _, c := range safeCharts(step, obs, charts) {
		if c.Empty() {
			continue
		}
		p := pageChart{Title: c.Title, Note: c.Note, Drawing: c.SVG()}
		if len(c.Series) > 1 {
			for i, s := range c.Series {
				p.Legend = append(p.Legend, legendEntry{Class: "s" + strconv.Itoa(i%chart.Colours), Name: s.Name})
			}
		}
		out = append(out, p)
	}
	return out
}

// safeCharts recovers from a panic in charts: the report is then written without them.
func safeCharts(step string, obs []check.Observation, charts ChartsFor) (out []chart.Chart) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	return charts(step, obs)
}
