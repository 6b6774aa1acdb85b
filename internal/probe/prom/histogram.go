package prom

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Histogram is what a histogram counted over all its label sets: how many values, their
// sum in the unit of the metric, and by upper bound how many were at most that.
type Histogram struct {
	Count, Sum float64
	AtMost     map[float64]float64
}

// Since is what was counted after an earlier reading.
func (h Histogram) Since(earlier Histogram) Histogram {
	d := Histogram{Count: h.Count - earlier.Count, Sum: h.Sum - earlier.Sum, AtMost: map[float64]float64{}}
	for bound, n := range h.AtMost {
		d.AtMost[bound] = n - earlier.AtMost[bound]
	}
	return d
}

// Within is the lowest finite bound that at least this share of the values kept; false
// where there is none, or no value.
func (h Histogram) Within(share float64) (bound float64, ok bool) {
	for _, b := range slices.Sorted(maps.Keys(h.AtMost)) {
		if !math.IsInf(b, 1) && h.Count > 0 && h.AtMost[b] >= share*h.Count {
			return b, true
		}
	}
	return 0, false
}

// ParseHistogram reads a histogram out of an exposition. One that is not there, or is of
// another type, is an error.
func ParseHistogram(raw []byte, name string) (Histogram, error) {
	return guard.Parse("metrics", func() (Histogram, error) { return parseHistogram(raw, name) })
}

func parseHistogram(raw []byte, name string) (Histogram, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return Histogram{}, fmt.Errorf("read metrics: %w", err)
	}
	metrics := families[name].GetMetric()
	if len(metrics) == 0 {
		return Histogram{}, fmt.Errorf("read metrics: %s not found", name)
	}
	h := Histogram{AtMost: map[float64]float64{}}
	for _, m := range metrics {
		if m.GetHistogram() == nil {
			return Histogram{}, fmt.Errorf("read metrics: %s is no histogram", name)
		}
		h.Count += float64(m.GetHistogram().GetSampleCount())
		h.Sum += m.GetHistogram().GetSampleSum()
		for _, b := range m.GetHistogram().GetBucket() {
			h.AtMost[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return h, nil
}
