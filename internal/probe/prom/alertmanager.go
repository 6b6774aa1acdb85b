package prom

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Alertmanager is a client of the Alertmanager API v2.
type Alertmanager struct{ *Client }

// Alert is an alert to post.
type Alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations,omitempty"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

// Post creates alerts.
func (a Alertmanager) Post(ctx context.Context, alerts ...Alert) error {
	body, err := json.Marshal(alerts)
	if err != nil {
		return fmt.Errorf("encode alerts: %w", err)
	}
	_, err = a.do(ctx, http.MethodPost, "/api/v2/alerts", nil, body)
	return err
}

// AlertState is an alert in Alertmanager.
type AlertState struct {
	Labels      map[string]string `json:"labels"`
	State       string            `json:"state"`
	Receivers   []string          `json:"receivers"`
	SilencedBy  []string          `json:"silencedBy,omitempty"`
	InhibitedBy []string          `json:"inhibitedBy,omitempty"`
}

// ParseAlerts parses the response of /api/v2/alerts.
func ParseAlerts(raw []byte) ([]AlertState, error) {
	return guard.Parse("alerts", func() ([]AlertState, error) { return parseAlerts(raw) })
}

func parseAlerts(raw []byte) ([]AlertState, error) {
	var body []struct {
		Labels    map[string]string `json:"labels"`
		Receivers []struct {
			Name string `json:"name"`
		} `json:"receivers"`
		Status struct {
			State       string   `json:"state"`
			SilencedBy  []string `json:"silencedBy"`
			InhibitedBy []string `json:"inhibitedBy"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	out := make([]AlertState, 0, len(body))
	for _, b := range body {
		s := AlertState{Labels: b.Labels, State: b.Status.State, SilencedBy: b.Status.SilencedBy, InhibitedBy: b.Status.InhibitedBy}
		for _, r := range b.Receivers {
			s.Receivers = append(s.Receivers, r.Name)
		}
		out = append(out, s)
	}
	return out, nil
}

// Alerts lists the alerts with a label, in any state.
func (a Alertmanager) Alerts(ctx context.Context, label, value string) ([]AlertState, []byte, error) {
	raw, err := a.get(ctx, "/api/v2/alerts", url.Values{"filter": {fmt.Sprintf("%s=%q", label, value)}})
	if err != nil {
		return nil, raw, err
	}
	alerts, err := ParseAlerts(raw)
	if err != nil {
		return nil, raw, fmt.Errorf("list alerts of %s: %w", a.name, err)
	}
	return alerts, raw, nil
}
