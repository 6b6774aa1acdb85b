package prom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
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
	// MutedBy are the time intervals that mute its route, from Alertmanager 0.28 on. Only the groups of alerts have
	// them (see MutedBy of Alertmanager): the list of alerts never does.
	MutedBy []string `json:"mutedBy,omitempty"`
	// EndsAt is when Alertmanager drops the alert unless it is sent again.
	EndsAt time.Time `json:"endsAt,omitzero"`
}

// ParseAlerts parses the response of /api/v2/alerts.
func ParseAlerts(raw []byte) ([]AlertState, error) {
	return guard.Parse("alerts", func() ([]AlertState, error) { return parseAlerts(raw) })
}

func parseAlerts(raw []byte) ([]AlertState, error) {
	var body []struct {
		Labels    map[string]string `json:"labels"`
		EndsAt    time.Time         `json:"endsAt"`
		Receivers []struct {
			Name string `json:"name"`
		} `json:"receivers"`
		Status struct {
			State       string   `json:"state"`
			SilencedBy  []string `json:"silencedBy"`
			InhibitedBy []string `json:"inhibitedBy"`
			MutedBy     []string `json:"mutedBy"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	if body == nil {
		return nil, errors.New("read alerts: not a list")
	}
	out := make([]AlertState, 0, len(body))
	for _, b := range body {
		s := AlertState{Labels: b.Labels, EndsAt: b.EndsAt, State: b.Status.State, SilencedBy: b.Status.SilencedBy, InhibitedBy: b.Status.InhibitedBy, MutedBy: b.Status.MutedBy}
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

// ParseMutedBy parses the response of /api/v2/alerts/groups.
func ParseMutedBy(raw []byte) ([]string, error) {
	return guard.Parse("alert groups", func() ([]string, error) { return parseMutedBy(raw) })
}

func parseMutedBy(raw []byte) ([]string, error) {
	var groups []struct {
		Alerts json.RawMessage `json:"alerts"`
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return nil, fmt.Errorf("read alert groups: %w", err)
	}
	var out []string
	for _, g := range groups {
		alerts, err := parseAlerts(g.Alerts)
		if err != nil {
			return nil, err
		}
		for _, a := range alerts {
			out = append(out, a.MutedBy...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// MutedBy are the time intervals that mute the routes of the alerts with a label.
func (a Alertmanager) MutedBy(ctx context.Context, label, value string) ([]string, []byte, error) {
	raw, err := a.get(ctx, "/api/v2/alerts/groups", url.Values{"filter": {fmt.Sprintf("%s=%q", label, value)}})
	if err != nil {
		return nil, raw, err
	}
	muted, err := ParseMutedBy(raw)
	if err != nil {
		return nil, raw, fmt.Errorf("list alert groups of %s: %w", a.name, err)
	}
	return muted, raw, nil
}

// Notifying lists the alerts of a receiver that are active, neither silenced nor inhibited.
func (a Alertmanager) Notifying(ctx context.Context, receiver string) ([]AlertState, error) {
	raw, err := a.get(ctx, "/api/v2/alerts", url.Values{
		"receiver": {"^" + regexp.QuoteMeta(receiver) + "$"}, "active": {"true"}, "silenced": {"false"}, "inhibited": {"false"},
	})
	if err != nil {
		return nil, err
	}
	alerts, err := ParseAlerts(raw)
	if err != nil {
		return nil, fmt.Errorf("list alerts of receiver %s of %s: %w", receiver, a.name, err)
	}
	return alerts, nil
}
