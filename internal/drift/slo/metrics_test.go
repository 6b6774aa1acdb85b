package slo

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

type exported plan.Result

func (exported) Describe(chan<- *prometheus.Desc) {}

func (e exported) Collect(ch chan<- prometheus.Metric) {
	exporter{ch: ch, site: "prod", cluster: "1"}.result(plan.Result(e))
}

// A comparison repeats figures of its gate. Two metrics with the same labels are an error, so that no
// metric was exported after a drift.
func TestARepeatedFigureIsExportedOnce(t *testing.T) {
	t.Parallel()
	r := plan.Result{Step: "training"}
	r.Verdict = check.Passed
	r.Figures = []check.Figure{{Name: "TFLOPS a GPU", Value: 404, Unit: "TFLOPS"}, {Name: "TFLOPS a GPU", Value: 405, Unit: "TFLOPS", Limit: 390, Relation: ">="}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(exported(r))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "firstlight_figure" && (len(f.GetMetric()) != 1 || f.GetMetric()[0].GetGauge().GetValue() != 404) {
			t.Errorf("%v", f.GetMetric())
		}
	}
}
