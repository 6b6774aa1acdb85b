package slo

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

var (
	verifiedDesc = prometheus.NewDesc("firstlight_run_verified",
		"1 if the newest finished run of the site verifies; 0 if not, and then the other metrics are absent and the cluster is empty.", []string{"site", "cluster"}, nil)
	timeDesc = prometheus.NewDesc("firstlight_run_timestamp_seconds",
		"Time at which the newest finished run of the site ended.", []string{"site", "cluster", "command"}, nil)
	runPassedDesc = prometheus.NewDesc("firstlight_run_passed",
		"1 if the newest run passed, also without nodes that it left out; 0 if not.", []string{"site", "cluster"}, nil)
	passedDesc = prometheus.NewDesc("firstlight_gate_passed",
		"1 if the gate of the newest run passed, 0 if it failed or was not observed; absent for gates that do not apply.", []string{"site", "cluster", "gate"}, nil)
	figureDesc = prometheus.NewDesc("firstlight_figure",
		"Figure of the verdict of a gate in the newest run; absent if the gate has none.", []string{"site", "cluster", "gate", "figure", "unit"}, nil)
	limitDesc = prometheus.NewDesc("firstlight_figure_limit",
		"Limit of a figure in the newest run, which it must be at least (>=), at most (<=) or equal to (==).", []string{"site", "cluster", "gate", "figure", "relation"}, nil)
)

// Runs are the metrics of the newest run of a site.
type Runs struct {
	Site string
	// Newest has verified evidence; nil if it does not verify.
	Newest *evidence.Bundle
}

// Describe implements prometheus.Collector.
func (r Runs) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{verifiedDesc, timeDesc, runPassedDesc, passedDesc, figureDesc, limitDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r Runs) Collect(ch chan<- prometheus.Metric) {
	if r.Newest == nil {
		ch <- prometheus.MustNewConstMetric(verifiedDesc, prometheus.GaugeValue, 0, r.Site, "")
		return
	}
	h := r.Newest.Header
	e := exporter{ch: ch, site: r.Site, cluster: h.Cluster}
	e.gauge(verifiedDesc, 1)
	e.gauge(runPassedDesc, bit(r.Newest.Verdict().Holds()))
	ended := h.Created
	for _, result := range r.Newest.Results() {
		if result.Finished.After(ended) {
			ended = result.Finished
		}
		e.result(result)
	}
	e.gauge(timeDesc, float64(ended.Unix())+float64(ended.Nanosecond())/float64(time.Second), h.Command[1])
}

// exporter sends the metrics of one run.
type exporter struct {
	ch            chan<- prometheus.Metric
	site, cluster string
}

func (e exporter) gauge(d *prometheus.Desc, value float64, labels ...string) {
	e.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{e.site, e.cluster}, labels...)...)
}

// result sends the figures of a gate. Of two with one name, the gate's own is first: a comparison
// repeats figures of its gate.
func (e exporter) result(r plan.Result) {
	if r.Verdict == check.NotApplicable {
		return
	}
	e.gauge(passedDesc, bit(r.Verdict.Holds()), r.Step)
	sent := map[string]bool{}
	for _, f := range r.Figures {
		if sent[f.Name] {
			continue
		}
		sent[f.Name] = true
		e.gauge(figureDesc, f.Value, r.Step, f.Name, f.Unit)
		if f.Relation != "" && f.Relation != check.Expected {
			e.gauge(limitDesc, f.Limit, r.Step, f.Name, f.Relation)
		}
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
