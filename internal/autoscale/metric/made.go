package metric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// inNamespace adds the namespace to the selector: a custom metric's selector lacks it.
func inNamespace(m snapshot.Metric, namespace string) snapshot.Metric {
	m.Selector = maps.Clone(m.Selector)
	m.Selector[label(m.Form, "namespace")] = namespace
	return m
}

// readMade reads the series of the value: those that match the selector, including ended
// ones that still count in the window; without a window those that Prometheus has now.
func readMade(ctx context.Context, p prom.Prometheus, m snapshot.Metric, window, step time.Duration, h hosts, now time.Time) ([]snapshot.Sample, error) {
	chosen := m.Series + Matchers(m.Selector)
	average, newest := chosen, "timestamp("+chosen+")"
	if window > 0 {
		average, newest = fmt.Sprintf("avg_over_time(%s[%s])", chosen, span(window)), fmt.Sprintf("max_over_time(%s[%s:%s])", newest, span(window), span(step))
	}
	values, _, err := p.Query(ctx, average, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("query the series of the value: %w", err)
	}
	if len(values) == 0 {
		return nil, nil
	}
	stamps, _, err := p.Query(ctx, newest, values[0].At)
	if err != nil {
		return nil, fmt.Errorf("query the times of the value's series: %w", err)
	}
	return made(values, stamps, m.Form, h, now), nil
}

// made joins values with the times of their last samples. now is the local time of the
// query: ages are Prometheus' own, times local.
func made(values, stamps []prom.Sample, form string, h hosts, now time.Time) []snapshot.Sample {
	sampled := map[string]float64{}
	for _, s := range stamps {
		sampled[s.Series()] = s.Value
	}
	out := make([]snapshot.Sample, 0, len(values))
	for _, v := range values {
		s := snapshot.Sample{
			Node: cmp.Or(h.of(v.Labels), v.Labels["instance"]), GPU: v.Labels["gpu"], UUID: v.Labels["UUID"], Value: v.Value,
			Namespace: v.Labels[label(form, "namespace")], Pod: v.Labels[label(form, "pod")], Container: v.Labels[label(form, "container")],
		}
		if at, ok := sampled[v.Series()]; ok {
			s.At = now.Add(-v.At.Sub(stamp(at)))
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b snapshot.Sample) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.UUID, b.UUID), cmp.Compare(a.Pod, b.Pod))
	})
	return out
}

// readValue sends the adapter's query to Prometheus.
func readValue(ctx context.Context, p prom.Prometheus, query string) (float64, error) {
	samples, _, err := p.Query(ctx, query, time.Time{})
	if errors.Is(err, prom.ErrNotFinite) {
		return 0, fmt.Errorf("%w: %w", errNoValue, err)
	}
	if err != nil {
		return 0, fmt.Errorf("query %s: %w", query, err)
	}
	switch {
	case len(samples) == 0:
		return 0, fmt.Errorf("%w: no series", errNoValue)
	case len(samples) > 1:
		return 0, fmt.Errorf("%w: %d series, want one", errNoValue, len(samples))
	}
	return samples[0].Value, nil
}
