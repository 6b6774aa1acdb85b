package prom

import (
	"context"
	"fmt"
	"math"

	dto "github.com/prometheus/client_model/go"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Notifications are counters since the start of Alertmanager, by kind of integration.
type Notifications struct {
	// Total is the number of attempted notifications: Alertmanager counts before sending.
	Total map[string]float64 `json:"total"`
	// Failed is the number of failed notifications.
	Failed map[string]float64 `json:"failed"`
	// Delivered is the number of successful requests, retries included; a kind is absent if an
	// old Alertmanager does not count requests.
	Delivered map[string]float64 `json:"delivered,omitempty"`
	// Started is the start of this Alertmanager in Unix seconds; 0 if not reported. Each replica
	// has its own counters, and a restart resets them.
	Started float64 `json:"startedUnixSeconds,omitempty"`
	// Members is the number of Alertmanagers in the cluster; 0 without a cluster.
	Members float64 `json:"members,omitempty"`
	// ByReceiver are the counters of each receiver, if Alertmanager has receiver labels
	// (--enable-feature=receiver-name-in-metrics).
	ByReceiver map[string]Notifications `json:"byReceiver,omitempty"`
}

// ParseNotifications parses the metrics of Alertmanager.
func ParseNotifications(raw []byte) (Notifications, error) {
	return guard.Parse("metrics", func() (Notifications, error) { return parseNotifications(raw) })
}

func parseNotifications(raw []byte) (Notifications, error) {
	families, err := parseFamilies(raw)
	if err != nil {
		return Notifications{}, err
	}
	total, ok := families["alertmanager_notifications_total"]
	if !ok {
		return Notifications{}, fmt.Errorf("read metrics: alertmanager_notifications_total not found")
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

// notificationsOf returns the counters of one receiver; empty: of all.
func notificationsOf(families map[string]*dto.MetricFamily, receiver string) Notifications {
	n := Notifications{
		Total:  sum(families["alertmanager_notifications_total"], receiver),
		Failed: sum(families["alertmanager_notifications_failed_total"], receiver),
	}
	failed := sum(families["alertmanager_notification_requests_failed_total"], receiver)
	for kind, requests := range sum(families["alertmanager_notification_requests_total"], receiver) {
		if n.Delivered == nil {
			n.Delivered = map[string]float64{}
		}
		n.Delivered[kind] = requests - failed[kind]
	}
	return n
}

// receiverName is the label with the name of the receiver.
const receiverName = "receiver_name"

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// sum adds the counters of a family by integration, for one receiver or (empty) for all:
// releases differ in their other labels.
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

// gauge is the value of the first finite gauge of a family; 0 if the family has no finite gauge.
func gauge(family *dto.MetricFamily) float64 {
	for _, m := range family.GetMetric() {
		if v := m.GetGauge().GetValue(); !math.IsNaN(v) && !math.IsInf(v, 0) { // JSON has neither
			return v
		}
	}
	return 0
}

// Notifications reads the notification counters.
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
