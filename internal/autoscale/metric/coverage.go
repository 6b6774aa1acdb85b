package metric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/settings"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// readCoverage compares the series in Prometheus with the nodes' GPUs.
func readCoverage(ctx context.Context, p prom.Prometheus, series string, gpus map[string]int, h hosts, fresh time.Duration) ([]snapshot.Coverage, error) {
	values, _, err := p.Query(ctx, series, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", series, err)
	}
	stamps, _, err := p.Query(ctx, "timestamp("+series+")", time.Time{})
	if err != nil {
		return nil, fmt.Errorf("query the times of %s: %w", series, err)
	}
	targets, _, err := p.Targets(ctx)
	notServed := errors.Is(err, prom.ErrNotServed) // Mimir and managed services; the samples show what they scrape
	if err != nil && !notServed {
		return nil, fmt.Errorf("list targets: %w", err)
	}
	out := cover(values, stamps, targets, gpus, h, fresh)
	for i := range out {
		if notServed {
			out[i].Trouble = "the endpoint does not list targets"
		}
	}
	return out, nil
}

// cover counts the series of each node, one per GPU.
func cover(values, stamps []prom.Sample, targets []prom.Target, gpus map[string]int, h hosts, fresh time.Duration) []snapshot.Coverage {
	age := map[string]time.Duration{}
	for _, s := range stamps {
		age[s.Series()] = s.At.Sub(stamp(s.Value))
	}
	byNode := map[string]*snapshot.Coverage{}
	for node, n := range gpus {
		byNode[node] = &snapshot.Coverage{Node: node, Expected: n}
	}
	for _, v := range values {
		c := byNode[h.of(v.Labels)]
		if c == nil {
			continue
		}
		addLabels(c, v.Labels)
		old, known := age[v.Series()]
		switch {
		case v.Labels["gpu"] == "" && v.Labels["UUID"] == "":
			c.Unlabelled++
		case known && old <= fresh:
			c.Fresh++
		default:
			c.Stale++
		}
	}
	for _, t := range targets {
		if c := byNode[h.target(t.Labels, t.ScrapeURL)]; c != nil && settings.IsExporter(t) {
			up := t.Health == "up"
			if c.Up == nil || !up {
				c.Up, c.Trouble = &up, t.LastError
			}
		}
	}
	out := make([]snapshot.Coverage, 0, len(byNode))
	for _, c := range byNode {
		slices.Sort(c.Labels)
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b snapshot.Coverage) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// addLabels collects the label names of the node's series.
func addLabels(c *snapshot.Coverage, labels map[string]string) {
	for name := range labels {
		if name != "__name__" && !slices.Contains(c.Labels, name) {
			c.Labels = append(c.Labels, name)
		}
	}
}

// stamp converts a value of timestamp().
func stamp(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }
