package inference

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
)

// Charts draws the distributions of the latencies of the measured requests.
func (g *Gate) Charts(obs []check.Observation) []chart.Chart {
	var out []chart.Chart
	for _, o := range check.OfKind(obs, KindLoad) {
		f, err := check.Decode[LoadFigures](o)
		if err != nil {
			continue
		}
		m := measure(counted(f))
		w, p := g.site.Workloads.Inference, g.profile.Inference
		ttft, _ := objective(w.TTFTp99.D(), "ttftP99", p.TTFTp99.Value, "")
		tpot, _ := objective(w.TPOTp99.D(), "tpotP99", p.TPOTp99.Value, "")
		note := fmt.Sprintf("%d requests at %g a second", len(f.Requests), f.RatePerSecond)
		if f.Concurrency > 0 {
			note += fmt.Sprintf(", at most %d at a time", f.Concurrency)
		}
		out = append(out,
			distribution("Time to first token", note, m.ttft, ttft),
			distribution("Time per output token", note, m.tpot, tpot))
	}
	return out
}

// distribution is the cumulative distribution of latencies with the objective.
func distribution(title, note string, values []float64, objective float64) chart.Chart {
	c := chart.Chart{
		Title: title, Note: note,
		X: chart.Axis{Label: "ms", Unit: "ms", Scale: chart.LinearZero}, Y: chart.Axis{Label: "% of requests", Unit: "%", Scale: chart.Percent},
		Series: []chart.Series{chart.Distribution(title, values)},
	}
	if objective > 0 {
		c.Limits = []chart.Limit{{Name: fmt.Sprintf("99 %% within %g ms", objective), Value: objective, Vertical: true}}
	}
	return c
}
