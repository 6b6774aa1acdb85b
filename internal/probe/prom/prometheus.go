package prom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Prometheus is a client of the Prometheus API.
type Prometheus struct {
	*Client
	// matchers are added to every selector of a query.
	matchers []*labels.Matcher
}

// Query evaluates expr at a time; the zero time is the current time of Prometheus. Of a client with
// matchers, it selects only series that match.
func (p Prometheus) Query(ctx context.Context, expr string, at time.Time) ([]Sample, []byte, error) {
	expr, err := p.narrow(expr)
	if err != nil {
		return nil, nil, fmt.Errorf("query %s: %w", p.name, err)
	}
	params := url.Values{"query": {expr}}
	if !at.IsZero() {
		params.Set("time", at.UTC().Format(time.RFC3339Nano))
	}
	raw, err := p.undelayed(ctx, params)
	if err != nil {
		return nil, raw, err
	}
	samples, err := ParseVector(raw)
	if err != nil {
		return nil, raw, fmt.Errorf("query %s at %s: %w", expr, p.name, err)
	}
	return samples, raw, nil
}

// latencyOffset is the shortest delay of a query that VictoriaMetrics accepts.
const latencyOffset = "1ms"

// undelayed sends a query. VictoriaMetrics evaluates queries at 30 s ago (-search.latencyOffset) and returns the current
// time with the result, so samples look older than they are: it is asked again without the delay. Others do not get the
// argument, since some refuse an unknown one.
func (p Prometheus) undelayed(ctx context.Context, params url.Values) ([]byte, error) {
	if !p.delayed.Load() {
		raw, err := p.get(ctx, "/api/v1/query", params)
		if err != nil || !ofVictoriaMetrics(raw) {
			return raw, err
		}
		p.delayed.Store(true)
	}
	params.Set("latency_offset", latencyOffset)
	return p.get(ctx, "/api/v1/query", params)
}

// ofVictoriaMetrics recognises an answer of VictoriaMetrics by its statistics.
func ofVictoriaMetrics(raw []byte) bool {
	var r struct {
		Stats struct {
			Fetched json.RawMessage `json:"seriesFetched"`
		} `json:"stats"`
	}
	return guard.JSON(raw, &r) == nil && len(r.Stats.Fetched) > 0
}

// Target is a scrape target.
type Target struct {
	Labels    map[string]string `json:"labels"`
	ScrapeURL string            `json:"scrapeUrl"`
	Health    string            `json:"health"`
	LastError string            `json:"lastError"`
	// ScrapePool is its job. ScrapeInterval is a Prometheus duration ("1m30s").
	ScrapePool     string `json:"scrapePool,omitempty"`
	ScrapeInterval string `json:"scrapeInterval,omitempty"`
}

// IsDCGM reports whether the target is DCGM's exporter, by its labels.
func (t Target) IsDCGM() bool {
	for _, v := range t.Labels {
		if strings.Contains(v, "dcgm") {
			return true
		}
	}
	return false
}

// ParseTargets parses the response of /api/v1/targets.
func ParseTargets(raw []byte) ([]Target, error) {
	return guard.Parse("targets", func() ([]Target, error) { return parseTargets(raw) })
}

func parseTargets(raw []byte) ([]Target, error) {
	data, err := open(raw)
	if err != nil {
		return nil, err
	}
	var body struct {
		Active []Target `json:"activeTargets"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	if body.Active == nil {
		return nil, errors.New("read targets: activeTargets is missing")
	}
	return body.Active, nil
}

// Targets lists the active targets.
func (p Prometheus) Targets(ctx context.Context) ([]Target, []byte, error) {
	raw, err := p.get(ctx, "/api/v1/targets", url.Values{"state": {"active"}})
	if err != nil {
		return nil, raw, err
	}
	targets, err := ParseTargets(raw)
	if err != nil {
		return nil, raw, fmt.Errorf("list targets of %s: %w", p.name, err)
	}
	return targets, raw, nil
}

// Process identifies the process that answers: its host and the time of its start.
func (p Prometheus) Process(ctx context.Context) (string, error) {
	raw, err := p.get(ctx, "/api/v1/status/runtimeinfo", nil)
	if err != nil {
		return "", err
	}
	data, err := open(raw)
	if err != nil {
		return "", fmt.Errorf("identify %s: %w", p.name, err)
	}
	var info struct {
		Hostname string    `json:"hostname"`
		Started  time.Time `json:"startTime"`
	}
	if err := guard.JSON(data, &info); err != nil || info.Started.IsZero() {
		return "", errors.Join(fmt.Errorf("identify %s: no start time in its runtime information", p.name), err)
	}
	return info.Hostname + " " + info.Started.UTC().Format(time.RFC3339Nano), nil
}

// ParseAlertmanagers parses the response of /api/v1/alertmanagers.
func ParseAlertmanagers(raw []byte) ([]string, error) {
	return guard.Parse("alertmanagers", func() ([]string, error) { return parseAlertmanagers(raw) })
}

func parseAlertmanagers(raw []byte) ([]string, error) {
	data, err := open(raw)
	if err != nil {
		return nil, err
	}
	var body struct {
		Active []struct {
			URL string `json:"url"`
		} `json:"activeAlertmanagers"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, fmt.Errorf("read alertmanagers: %w", err)
	}
	if body.Active == nil {
		return nil, errors.New("read alertmanagers: activeAlertmanagers is missing")
	}
	out := make([]string, 0, len(body.Active))
	for _, a := range body.Active {
		out = append(out, a.URL)
	}
	return out, nil
}

// Alertmanagers lists the URLs of the Alertmanagers of Prometheus.
func (p Prometheus) Alertmanagers(ctx context.Context) ([]string, []byte, error) {
	raw, err := p.get(ctx, "/api/v1/alertmanagers", nil)
	if err != nil {
		return nil, raw, err
	}
	urls, err := ParseAlertmanagers(raw)
	if err != nil {
		return nil, raw, fmt.Errorf("list alertmanagers of %s: %w", p.name, err)
	}
	return urls, raw, nil
}
