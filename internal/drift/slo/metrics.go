package slo

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

var (
	verifiedDesc = prometheus.NewDesc("firstlight_run_verified",
		"1 if the newest finished run of the site verifies; 0 if not, and then the other metrics are absent.", []string{"site"}, nil)
	timeDesc = prometheus.NewDesc("firstlight_run_timestamp_seconds",
		"Time at which the newest finished run of the site began.", []string{"site", "command"}, nil)
	passedDesc = prometheus.NewDesc("firstlight_gate_passed",
		"1 if the gate of the newest run passed, 0 if it failed or was not observed; absent for gates that do not apply.", []string{"site", "gate"}, nil)
	figureDesc = prometheus.NewDesc("firstlight_figure",
		"Figure of the verdict of a gate in the newest run; absent if the gate has none.", []string{"site", "gate", "figure", "unit"}, nil)
	limitDesc = prometheus.NewDesc("firstlight_figure_limit",
		"Limit of a figure, which it must be at least (>=), at most (<=) or equal to (==).", []string{"site", "gate", "figure", "relation"}, nil)
)

// Runs are the metrics of the newest run of a site.
type Runs struct {
	Site string
	// Newest has verified evidence; nil if it does not verify.
	Newest *evidence.Bundle
}

// Describe implements prometheus.Collector.
func (r Runs) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{verifiedDesc, timeDesc, passedDesc, figureDesc, limitDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r Runs) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{r.Site}, labels...)...)
	}
	if r.Newest == nil {
		gauge(verifiedDesc, 0)
		return
	}
	gauge(verifiedDesc, 1)
	gauge(timeDesc, float64(r.Newest.Header.Created.Unix()), r.Newest.Header.Command[1])
	for _, result := range r.Newest.Results() {
		switch result.Verdict {
		case check.NotApplicable:
			continue
		case check.Passed:
			gauge(passedDesc, 1, result.Step)
		default:
			gauge(passedDesc, 0, result.Step)
		}
		for _, f := range result.Figures {
			gauge(figureDesc, f.Value, result.Step, f.Name, f.Unit)
			if f.Relation != "" && f.Relation != check.Expected {
				gauge(limitDesc, f.Limit, result.Step, f.Name, f.Relation)
			}
		}
	}
}
