package prom

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Histogram is a histogram summed over its label sets: the number of values, their sum in the
// unit of the metric, and the cumulative counts by upper bound.
type Histogram struct {
	Count, Sum float64
	AtMost     map[float64]float64
}

// Since is the difference to an earlier reading.
func (h Histogram) Since(earlier Histogram) Histogram {
	d := Histogram{Count: h.Count - earlier.Count, Sum: h.Sum - earlier.Sum, AtMost: map[float64]float64{}}
	for bound, n := range h.AtMost {
		d.AtMost[bound] = n - earlier.AtMost[bound]
	}
	return d
}

// Within is the lowest finite bound of at least the given share of the values; false if there
// is no such bound or no value.
func (h Histogram) Within(share float64) (bound float64, ok bool) {
	for _, b := range slices.Sorted(maps.Keys(h.AtMost)) {
		if !math.IsInf(b, 1) && h.Count > 0 && h.AtMost[b] >= share*h.Count {
			return b, true
		}
	}
	return 0, false
}

// ParseHistogram parses one histogram in Prometheus text format. A missing metric or another
// type is an error.
func ParseHistogram(raw []byte, name string) (Histogram, error) {
	return guard.Parse("metrics", func() (Histogram, error) { return parseHistogram(raw, name) })
}

func parseHistogram(raw []byte, name string) (Histogram, error) {
	families, err := parseFamilies(raw)
	if err != nil {
		return Histogram{}, err
	}
	metrics := families[name].GetMetric()
	if len(metrics) == 0 {
		return Histogram{}, fmt.Errorf("read metrics: %s not found", name)
	}
	h := Histogram{AtMost: map[float64]float64{}}
	for _, m := range metrics {
		if m.GetHistogram() == nil {
			return Histogram{}, fmt.Errorf("read metrics: %s is not a histogram", name)
		}
		h.Count += float64(m.GetHistogram().GetSampleCount())
		h.Sum += m.GetHistogram().GetSampleSum()
		for _, b := range m.GetHistogram().GetBucket() {
			h.AtMost[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	}
	return h, nil
}
