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
	c := countersOf(families)
	n := c.of("")
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
			n.ByReceiver[name] = c.of(name)
		}
	}
	return n, nil
}

// counters are the sums of the families.
type counters struct{ total, failed, requests, failedRequests sums }

func countersOf(families map[string]*dto.MetricFamily) counters {
	return counters{
		sum(families["alertmanager_notifications_total"]), sum(families["alertmanager_notifications_failed_total"]),
		sum(families["alertmanager_notification_requests_total"]), sum(families["alertmanager_notification_requests_failed_total"]),
	}
}

// of returns the counters of one receiver; empty: of all.
func (c counters) of(receiver string) Notifications {
	n := Notifications{Total: c.total.of(receiver), Failed: c.failed.of(receiver)}
	for kind, requests := range c.requests[receiver] {
		if n.Delivered == nil {
			n.Delivered = map[string]float64{}
		}
		n.Delivered[kind] = requests - c.failedRequests[receiver][kind]
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

// sums are counters by receiver (empty: of all) and integration.
type sums map[string]map[string]float64

func (s sums) of(receiver string) map[string]float64 {
	if s[receiver] == nil {
		return map[string]float64{}
	}
	return s[receiver]
}

// sum adds the counters of a family: releases differ in their other labels. It reads the family once, however many
// receivers it has.
func sum(family *dto.MetricFamily) sums {
	out := sums{}
	for _, m := range family.GetMetric() {
		kind, v := label(m, "integration"), m.GetCounter().GetValue()
		if kind == "" || math.IsNaN(v) {
			continue
		}
		out.add("", kind, v)
		if name := label(m, receiverName); name != "" {
			out.add(name, kind, v)
		}
	}
	return out
}

func (s sums) add(receiver, kind string, v float64) {
	if s[receiver] == nil {
		s[receiver] = map[string]float64{}
	}
	s[receiver][kind] += v
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
