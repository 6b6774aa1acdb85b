package prom

import (
	"bytes"
	"context"
	"fmt"
	"math"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Notifications are how many were attempted and how many of them failed, by
// the kind of integration.
type Notifications struct {
	Total  map[string]float64 `json:"total"`
	Failed map[string]float64 `json:"failed"`
}

// ParseNotifications reads Alertmanager's own metrics.
func ParseNotifications(raw []byte) (Notifications, error) {
	return guard.Parse("metrics", func() (Notifications, error) { return parseNotifications(raw) })
}

func parseNotifications(raw []byte) (Notifications, error) {
	n := Notifications{Total: map[string]float64{}, Failed: map[string]float64{}}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return n, fmt.Errorf("read metrics: %w", err)
	}
	total, ok := families["alertmanager_notifications_total"]
	if !ok {
		return n, fmt.Errorf("read metrics: none is alertmanager_notifications_total")
	}
	add(n.Total, total)
	add(n.Failed, families["alertmanager_notifications_failed_total"])
	return n, nil
}

// add sums the counters of a family by integration: releases differ in what
// further labels they have.
func add(sums map[string]float64, family *dto.MetricFamily) {
	for _, m := range family.GetMetric() {
		kind := ""
		for _, l := range m.GetLabel() {
			if l.GetName() == "integration" {
				kind = l.GetValue()
			}
		}
		if v := m.GetCounter().GetValue(); kind != "" && !math.IsNaN(v) {
			sums[kind] += v
		}
	}
}

// Notifications reads how many notifications were sent so far.
func (a Alertmanager) Notifications(ctx context.Context) (Notifications, []byte, error) {
	raw, err := a.get(ctx, "/metrics", nil)
	if err != nil {
		return Notifications{}, raw, err
	}
	n, err := ParseNotifications(raw)
	if err != nil {
		return n, raw, fmt.Errorf("count notifications of %s: %w", a.name, err)
	}
	return n, raw, nil
}
