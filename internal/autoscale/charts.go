package autoscale

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
)

// Charts draws the paths as waterfalls, and the metric as each place had it.
func (c *Chain) Charts(obs []check.Observation) []chart.Chart {
	w := fold(obs)
	if w.problem != "" {
		return nil
	}
	var out []chart.Chart
	for _, p := range w.report().Paths {
		out = append(out, p.chart())
	}
	return append(out, w.metricChart())
}

var pathTitles = map[string]string{
	snapshot.PhaseUp:   "Up: from the load's creation to pods that run on new nodes",
	snapshot.PhaseDown: "Down: from the load's deletion to nodes and claims that are gone",
}

// chart is the path as a waterfall.
func (p Path) chart() chart.Chart {
	took := chart.Series{Name: "took", Kind: chart.Spans}
	budget := chart.Series{Name: "budget: worst case of the settings found", Kind: chart.Frames}
	over := chart.Series{Name: "took longer than its budget", Kind: chart.Spans}
	out := chart.Chart{
		Title: pathTitles[p.Phase], Note: p.note(),
		X: chart.Axis{Label: "seconds since it began", Unit: "s", Scale: chart.LinearZero},
	}
	for i, h := range p.Hops {
		from, to := p.offset(h)
		point := chart.Point{Y: float64(i), Low: from.Seconds(), High: to.Seconds()}
		point.X = point.High
		if h.Over() {
			over.Points = append(over.Points, point)
		} else {
			took.Points = append(took.Points, point)
		}
		if h.Budget != nil {
			budget.Points = append(budget.Points, chart.Point{X: from.Seconds() + *h.Budget, Y: float64(i), Low: from.Seconds(), High: from.Seconds() + *h.Budget})
		}
		out.Y.Labels = append(out.Y.Labels, h.Hop)
	}
	out.Series = []chart.Series{took, budget, over}
	return out
}

func (p Path) note() string {
	text := "took " + seconds(p.Took)
	if !p.Whole {
		text = "broke off after " + seconds(p.Took)
	}
	if p.Worst > 0 {
		text += ", worst case of the settings found " + seconds(p.Worst)
	}
	if p.Slowest.Name != "" {
		text += fmt.Sprintf("; slowest setting: %s", describe(p.Slowest))
	}
	return text
}

// metricChart is the metric over time at Prometheus and at the metrics API,
// with the target.
func (w *decoded) metricChart() chart.Chart {
	began := w.last.Marks[snapshot.MarkLoad]
	if began.IsZero() {
		return chart.Chart{}
	}
	lines := []struct {
		name     string
		readings []snapshot.Reading
	}{{"in Prometheus", w.last.Prometheus}, {"at the metrics API", w.last.API}}
	out := chart.Chart{
		Title: w.setup.Metric.Name, Note: "the value that the HPA scales on, before, under and after the load",
		X:      chart.Axis{Label: "seconds since the load was created", Unit: "s"},
		Y:      chart.Axis{Label: w.setup.Metric.Unit, Unit: w.setup.Metric.Unit, Scale: chart.LinearZero},
		Limits: []chart.Limit{{Name: "target of " + fmt.Sprint(max(1, w.setup.Scale.Min)) + " replica", Value: w.setup.Scale.Target * float64(max(1, w.setup.Scale.Min))}},
	}
	for _, line := range lines {
		s := chart.Series{Name: line.name}
		for _, r := range line.readings {
			if r.Err == "" {
				s.Points = append(s.Points, chart.Point{X: since(r.At, began), Y: r.Value})
			}
		}
		out.Series = append(out.Series, s)
	}
	if stop := w.last.Marks[snapshot.MarkStop]; !stop.IsZero() {
		out.Limits = append(out.Limits, chart.Limit{Name: "load gone", Value: since(stop, began), Vertical: true})
	}
	return out
}

func since(t, began time.Time) float64 { return t.Sub(began).Seconds() }
