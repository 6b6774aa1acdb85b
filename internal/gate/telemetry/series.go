package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// observeIdle waits for the series of every GPU and records the first and the last state.
func (g *Gate) observeIdle(ctx context.Context, p prom.Prometheus, rec check.Recorder) (idle seriesFigures, complete bool, err error) {
	rec.Progress("querying %d GPU series", g.gpus*len(g.nodes))
	first := true
	err = g.poll(ctx, g.readInterval(), g.settle(), func(last bool) (bool, error) {
		attempt := g.begin(rec, kindSeries, targetIdle, seriesCommand(p))
		figures, raw, err := readSeries(ctx, p)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		idle, complete = figures, err == nil && len(g.defects(figures, hints{})) == 0
		if !first && !complete && !last {
			return false, nil
		}
		first = false
		return complete, attempt.Raw(raw).Record(figures, err)
	})
	if err != nil || complete {
		return idle, complete, err
	}
	if len(idle.Series) == 0 {
		if err := g.observeOthers(ctx, p, rec); err != nil {
			return idle, false, err
		}
	}
	if err := g.observeTargets(ctx, p, rec); err != nil {
		return idle, false, err
	}
	return idle, false, g.observeLast(ctx, p, rec)
}

// observeTargets records the scrape targets, which may explain missing series.
func (g *Gate) observeTargets(ctx context.Context, p prom.Prometheus, rec check.Recorder) error {
	attempt := g.begin(rec, kindTargets, p.Name(), "GET /api/v1/targets?state=active")
	targets, raw, err := p.Targets(ctx)
	figures := targetFigures{Active: len(targets)}
	for _, t := range targets {
		if t.Health != "up" || t.IsDCGM() {
			figures.Targets = append(figures.Targets, t)
		}
	}
	return attempt.Raw(raw).Record(figures, err)
}

// seriesCommand is the command of an observation of the series.
func seriesCommand(p prom.Prometheus) string { return "query " + p.Expr(seriesExpr) }

// timeLabel marks the timestamps in the result of seriesExpr.
const timeLabel = "firstlight_timestamp"

// seriesExpr selects the metric and the timestamps of its samples. Two queries, even for one time, would
// differ if a scrape ended between them.
const seriesExpr = metric + ` or label_replace(timestamp(` + metric + `), "` + timeLabel + `", "true", "", "")`

// readSeries reads the metric and the timestamps of its samples.
func readSeries(ctx context.Context, p prom.Prometheus) (seriesFigures, []byte, error) {
	figures := seriesFigures{Series: []series{}}
	samples, raw, err := p.Query(ctx, seriesExpr, time.Time{})
	if err != nil || len(samples) == 0 {
		return figures, raw, err
	}
	figures.Now = samples[0].At
	sampled, values := map[string]float64{}, samples[:0]
	for _, s := range samples {
		if _, stamp := s.Labels[timeLabel]; stamp {
			delete(s.Labels, timeLabel)
			sampled[s.Series()] = s.Value
		} else {
			values = append(values, s)
		}
	}
	for _, v := range values {
		at, ok := sampled[v.Series()]
		if !ok {
			return figures, raw, fmt.Errorf("series %v has no timestamp", v.Labels)
		}
		figures.Series = append(figures.Series, readOne(v, at))
	}
	if len(figures.Series) != len(sampled) {
		return figures, raw, errors.New("the metric and its timestamps have different series")
	}
	return figures, raw, nil
}

func readOne(v prom.Sample, sampled float64) series {
	s := series{Util: v.Value, Sampled: time.UnixMilli(int64(sampled * 1000)).UTC()}
	for name, value := range v.Labels {
		switch {
		case name == "UUID":
			s.UUID = value
		case name == "gpu":
			s.GPU = value
		case strings.EqualFold(name, "hostname"):
			s.Host = value
		case name == "instance":
			s.Instance = value
		case name == "pod":
			s.Pod = value
		case name == "node":
			s.Node = value
		case name == "namespace":
			s.Namespace = value
		case name == "exported_namespace":
			s.ExportedNamespace = value
		case name == "exported_pod":
			s.ExportedPod = value
		}
	}
	return s
}
