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
	// ByReceiver are the same of each receiver, where Alertmanager tells them apart
	// (--enable-feature=receiver-name-in-metrics).
	ByReceiver map[string]Notifications `json:"byReceiver,omitempty"`
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
	failed := families["alertmanager_notifications_failed_total"]
	add(n.Total, total, "")
	add(n.Failed, failed, "")
	for _, m := range total.GetMetric() {
		name := label(m, receiverName)
		if name == "" {
			continue
		}
		if n.ByReceiver == nil {
			n.ByReceiver = map[string]Notifications{}
		}
		if _, ok := n.ByReceiver[name]; !ok {
			of := Notifications{Total: map[string]float64{}, Failed: map[string]float64{}}
			add(of.Total, total, name)
			add(of.Failed, failed, name)
			n.ByReceiver[name] = of
		}
	}
	return n, nil
}

// receiverName is the label of a receiver's name.
const receiverName = "receiver_name"

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// add sums the counters of a family by integration, of one receiver where it is named:
// releases differ in what further labels they have.
func add(sums map[string]float64, family *dto.MetricFamily, receiver string) {
	for _, m := range family.GetMetric() {
		if receiver != "" && label(m, receiverName) != receiver {
			continue
		}
		kind := label(m, "integration")
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
