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

// Notifications are counters since Alertmanager's start, by the kind of integration.
type Notifications struct {
	// Total is how many were begun: Alertmanager counts one before it is sent.
	Total map[string]float64 `json:"total"`
	// Failed is how many were given up.
	Failed map[string]float64 `json:"failed"`
	// Delivered is how many requests were answered well, retries included; a kind is
	// absent where an old Alertmanager does not count requests.
	Delivered map[string]float64 `json:"delivered,omitempty"`
	// Started is when this Alertmanager was, in seconds of the epoch: replicas count each for
	// itself, and a restart begins at 0 again. It is 0 where it is not said.
	Started float64 `json:"startedUnixSeconds,omitempty"`
	// Members is how many Alertmanagers its cluster has, 0 where it is in none.
	Members float64 `json:"members,omitempty"`
	// ByReceiver are the same of each receiver, where Alertmanager tells them apart
	// (--enable-feature=receiver-name-in-metrics).
	ByReceiver map[string]Notifications `json:"byReceiver,omitempty"`
}

// ParseNotifications reads Alertmanager's own metrics.
func ParseNotifications(raw []byte) (Notifications, error) {
	return guard.Parse("metrics", func() (Notifications, error) { return parseNotifications(raw) })
}

func parseNotifications(raw []byte) (Notifications, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
	if err != nil {
		return Notifications{}, fmt.Errorf("read metrics: %w", err)
	}
	total, ok := families["alertmanager_notifications_total"]
	if !ok {
		return Notifications{}, fmt.Errorf("read metrics: none is alertmanager_notifications_total")
	}
	n := notificationsOf(families, "")
	n.Started = gauge(families["process_start_time_seconds"])
	n.Members = gauge(families["alertmanager_cluster_members"])
	for _, m := range total.GetMetric() {
		name := label(m, receiverName)
		if name == "" {
			continue
		}
		if n.ByReceiver == nil {
			n.ByReceiver = map[string]Notifications{}
		}
		if _, ok := n.ByReceiver[name]; !ok {
			n.ByReceiver[name] = notificationsOf(families, name)
		}
	}
	return n, nil
}

// notificationsOf are the counters of one receiver, or of all when it is empty.
func notificationsOf(families map[string]*dto.MetricFamily, receiver string) Notifications {
	n := Notifications{
		Total:  sum(families["alertmanager_notifications_total"], receiver),
		Failed: sum(families["alertmanager_notifications_failed_total"], receiver),
	}
	refused := sum(families["alertmanager_notification_requests_failed_total"], receiver)
	for kind, requests := range sum(families["alertmanager_notification_requests_total"], receiver) {
		if n.Delivered == nil {
			n.Delivered = map[string]float64{}
		}
		n.Delivered[kind] = requests - refused[kind]
	}
	return n
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

// sum adds the counters of a family by integration, of one receiver where it is named:
// releases differ in what further labels they have.
func sum(family *dto.MetricFamily, receiver string) map[string]float64 {
	sums := map[string]float64{}
	for _, m := range family.GetMetric() {
		if receiver != "" && label(m, receiverName) != receiver {
			continue
		}
		kind := label(m, "integration")
		if v := m.GetCounter().GetValue(); kind != "" && !math.IsNaN(v) {
			sums[kind] += v
		}
	}
	return sums
}

// gauge is the value of a family that has one, 0 where it has none.
func gauge(family *dto.MetricFamily) float64 {
	for _, m := range family.GetMetric() {
		if v := m.GetGauge().GetValue(); !math.IsNaN(v) && !math.IsInf(v, 0) { // JSON has neither
			return v
		}
	}
	return 0
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
