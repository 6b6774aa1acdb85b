package prom

import (
	"bytes"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Histogram is what a histogram counted over all its label sets: how many values, and
// their sum in the unit of the metric.
type Histogram struct {
	Count, Sum float64
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
	var h Histogram
	for _, m := range metrics {
		if m.GetHistogram() == nil {
			return Histogram{}, fmt.Errorf("read metrics: %s is no histogram", name)
		}
		h.Count += float64(m.GetHistogram().GetSampleCount())
		h.Sum += m.GetHistogram().GetSampleSum()
	}
	return h, nil
}
