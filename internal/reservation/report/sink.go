package report

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// sink collects metrics and errors.
type sink struct {
	metrics []prometheus.Metric
	err     error
}

func (s *sink) add(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, kind, value, labels...)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	s.metrics = append(s.metrics, m)
}

func (s *sink) gauge(d *prometheus.Desc, value float64, labels ...string) {
	s.add(d, prometheus.GaugeValue, value, labels...)
}

func (s *sink) flag(d *prometheus.Desc, on bool, labels ...string) {
	value := 0.0
	if on {
		value = 1
	}
	s.gauge(d, value, labels...)
}

// unixSeconds converts a time for Prometheus.
func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
