package training

import (
	"maps"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
)

// Charts draws the distribution of step times on every rank, the step time
// over the steps, and the loss.
func (g *Gate) Charts(obs []check.Observation) []chart.Chart {
	r := &review{gate: g}
	r.collect(check.OfKind(obs, KindRanks))
	warmup := int(g.profile.Training.WarmupSteps.Value)
	unit, scale := r.stepUnit()
	byStep, lossByStep := map[int][]float64{}, map[int][]float64{}
	ranks := chart.Chart{
		Title: "Step time on every rank", Note: "median, and from the 5th to the 95th percentile, after the warm-up",
		X: chart.Axis{Label: "rank"}, Y: chart.Axis{Label: unit, Unit: unit},
	}
	spread := chart.Series{Name: "rank", Kind: chart.Ranges}
	for _, k := range r.ranks {
		var own []float64
		for _, s := range k.Steps {
			if s.Loss != nil {
				lossByStep[s.Step] = append(lossByStep[s.Step], *s.Loss)
			}
			took, ok := s.took()
			if !ok {
				continue
			}
			byStep[s.Step] = append(byStep[s.Step], took*scale)
			if s.Step > warmup {
				own = append(own, took*scale)
			}
		}
		if len(own) > 0 {
			spread.Points = append(spread.Points, chart.Spread(float64(len(ranks.X.Labels)), own))
			ranks.X.Labels = append(ranks.X.Labels, strconv.Itoa(k.Rank.Rank))
		}
	}
	ranks.Series = []chart.Series{spread}
	steps := chart.Chart{
		Title: "Step time", Note: "of the slowest and of the median rank",
		X: chart.Axis{Label: "step"}, Y: chart.Axis{Label: unit, Unit: unit, Scale: chart.LinearZero},
		Series: []chart.Series{overSteps("slowest rank", byStep, slices.Max[[]float64]), overSteps("median rank", byStep, median)},
		Limits: []chart.Limit{{Name: "end of warm-up", Value: float64(warmup), Vertical: true}},
	}
	loss := chart.Chart{
		Title: "Loss", X: chart.Axis{Label: "step"}, Y: chart.Axis{Label: "loss, median of the ranks"},
		Series: []chart.Series{overSteps("loss", lossByStep, median)},
	}
	return slices.DeleteFunc([]chart.Chart{ranks, steps, loss}, chart.Chart.Empty)
}

// stepUnit is what step times are drawn in: ms where every step has them, and
// else, where only rates are known, multiples of the median step.
func (r *review) stepUnit() (unit string, scale float64) {
	var all []float64
	inMs := true
	for _, k := range r.ranks {
		for _, s := range k.Steps {
			if took, ok := s.took(); ok {
				inMs = inMs && s.Ms != nil && *s.Ms > 0
				all = append(all, took)
			}
		}
	}
	if inMs || len(all) == 0 {
		return "ms", 1
	}
	return "multiples of the median step", 1 / median(all)
}

// overSteps is one value a step.
func overSteps(name string, byStep map[int][]float64, one func([]float64) float64) chart.Series {
	s := chart.Series{Name: name}
	for _, step := range slices.Sorted(maps.Keys(byStep)) {
		s.Points = append(s.Points, chart.Point{X: float64(step), Y: one(byStep[step])})
	}
	return s
}
