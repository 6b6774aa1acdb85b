package prom

import (
	"bytes"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ParseExposition parses the series of one gauge in Prometheus text format. A missing metric
// is not an error.
func ParseExposition(raw []byte, name string) ([]Sample, error) {
	return guard.Parse("metrics", func() ([]Sample, error) { return parseExposition(raw, name) })
}

func parseExposition(raw []byte, name string) ([]Sample, error) {
	families, err := parseFamilies(raw)
	if err != nil {
		return nil, err
	}
	var out []Sample
	for _, m := range families[name].GetMetric() {
		s := Sample{Labels: map[string]string{}}
		for _, l := range m.GetLabel() {
			s.Labels[l.GetName()] = l.GetValue()
		}
		switch {
		case m.GetGauge() != nil:
			s.Value = m.GetGauge().GetValue()
		case m.GetUntyped() != nil:
			s.Value = m.GetUntyped().GetValue()
		default:
			return nil, fmt.Errorf("read metrics: %s is not a gauge", name)
		}
		if err := finite(s.Labels, s.Value); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseFamilies parses Prometheus text format.
func parseFamilies(raw []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return families, nil
}
