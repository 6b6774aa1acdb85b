package collective

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
)

// Charts draws bus bandwidth by message size with the ceiling, and the pairs and single nodes
// if any.
func (g *Gate) Charts(obs []check.Observation) []chart.Chart {
	var out []chart.Chart
	var small []Figures
	for _, o := range check.OfKind(obs, KindRun) {
		f, err := check.Decode[Figures](o)
		switch {
		case err != nil || f.test().program == "":
		case f.Scope == ScopeAll || f.Scope == ScopeRail || f.Scope == ScopeDomain:
			out = append(out, g.curve(f))
		default:
			small = append(small, f)
		}
	}
	if len(small) > 0 {
		out = append(out, g.bars(small))
	}
	return out
}

// curve is the bandwidth of one job at each size.
func (g *Gate) curve(f Figures) chart.Chart {
	points := f.points(maxPoints)
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
	median := chart.Series{Name: fmt.Sprintf("median of %d repetitions", len(f.Runs))}
	lowest := chart.Series{Name: "lowest repetition"}
	for _, p := range points {
		median.Points = append(median.Points, chart.Point{X: float64(p.bytes), Y: p.median})
		lowest.Points = append(lowest.Points, chart.Point{X: float64(p.bytes), Y: p.lowest})
	}
	title, of := "Bus bandwidth by message size", "all_reduce"
	if t := f.test(); !t.isAllReduce() {
		title, of = title+": "+t.name, t.name
	}
	if f.Rail != "" {
		title += ": rail " + f.Rail
	}
	if f.Domain != "" {
		title += ": " + domainName(f.Domain)
	}
	c := chart.Chart{
		Title:  title,
		Note:   fmt.Sprintf(of+" over %d nodes with %d GPUs each; only the largest sizes are compared with the limit", len(f.Nodes), f.GPUsPerNode),
		X:      chart.Axis{Label: "message size", Scale: chart.Bytes},
		Y:      chart.Axis{Label: "bus bandwidth, GB/s", Unit: "GB/s", Scale: chart.LinearZero},
		Series: []chart.Series{median, lowest},
	}
	if limit, row, ok := g.limit(f); ok {
		c.Limits = []chart.Limit{{Name: fmt.Sprintf("at least %.0f GB/s", limit), Value: limit}}
		if !row.ClassFloor {
			c.Limits = append([]chart.Limit{{Name: fmt.Sprintf("ceiling %.0f GB/s", row.Busbw.Value), Value: row.Busbw.Value}}, c.Limits...)
		}
	}
	return c
}

// bars are the jobs that localised a failure.
func (g *Gate) bars(tried []Figures) chart.Chart {
	c := chart.Chart{
		Title: "Pairs and single nodes", Note: "lowest median of the largest sizes, run to localise the failure",
		X: chart.Axis{}, Y: chart.Axis{Label: "bus bandwidth, GB/s", Unit: "GB/s", Scale: chart.LinearZero},
	}
	series := chart.Series{Name: "busbw", Kind: chart.Bars}
	limits := map[float64]bool{}
	for i, f := range tried {
		c.X.Labels = append(c.X.Labels, strings.Join(f.Nodes, " + "))
		series.Points = append(series.Points, chart.Point{X: float64(i), Y: g.worst(f).median})
		if limit, _, ok := g.limit(f); ok && !limits[limit] {
			limits[limit] = true
			c.Limits = append(c.Limits, chart.Limit{Name: fmt.Sprintf("at least %.0f GB/s on %d", limit, len(f.Nodes)), Value: limit})
		}
	}
	c.Series = []chart.Series{series}
	return c
}

// maxPoints is more sizes than a run has.
const maxPoints = 1 << 10
