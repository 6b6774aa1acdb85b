package prom

import (
	"bytes"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ParseExposition reads the series of one gauge from what an exporter exposes as
// text. That there are none is no error.
func ParseExposition(raw []byte, name string) ([]Sample, error) {
	return guard.Parse("metrics", func() ([]Sample, error) { return parseExposition(raw, name) })
}

func parseExposition(raw []byte, name string) ([]Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
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
			return nil, fmt.Errorf("read metrics: %s is no gauge", name)
		}
		out = append(out, s)
	}
	return out, nil
}
