package preflight

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// seriesFacts are the observations of Prometheus.
type seriesFacts struct {
	address string
	// connectErr: the endpoint of the site file cannot be used; readyErr: it does not answer, or is
	// not ready; readErr: the series could not be read.
	connectErr, readyErr, readErr error
	defects                       []check.Finding
	// intervals are the scrape intervals of DCGM's targets, sorted; empty if not known.
	intervals []time.Duration
	// alertmanagers are the addresses that Prometheus sends alerts to; alertErr: not known.
	alertmanagers []string
	alertErr      error
	// unnamed: they are more than the site names, and the gate would raise no alert.
	unnamed bool
}

func observeSeries(ctx context.Context, c *kube.Cluster, e site.Endpoint, matchers map[string]string, g *telemetry.Gate) seriesFacts {
	f := seriesFacts{address: e.Name()}
	p, err := prom.ConnectPrometheus(e, matchers, c)
	if f.connectErr = err; err != nil {
		return f
	}
	defer p.Close()
	if _, f.readyErr = p.Ready(ctx); f.readyErr != nil {
		return f
	}
	if f.defects, f.readErr = g.SeriesDefects(ctx, p); f.readErr != nil {
		return f
	}
	if targets, _, err := p.Targets(ctx); err == nil { // an endpoint in front of Mimir or Thanos has none
		for _, t := range targets {
			if d, err := model.ParseDuration(t.ScrapeInterval); err == nil && t.IsDCGM() {
				f.intervals = append(f.intervals, time.Duration(d))
			}
		}
		slices.Sort(f.intervals)
	}
	f.alertmanagers, _, f.alertErr = p.Alertmanagers(ctx)
	f.unnamed = g.MoreThanNamed(f.alertmanagers)
	return f
}

// alertFacts are the observations of Alertmanager.
type alertFacts struct {
	address   string
	err       error
	receivers []prom.Receiver
	effect    telemetry.AlertEffect
}

func observeAlerts(ctx context.Context, c *kube.Cluster, reach site.Reach, g *telemetry.Gate) alertFacts {
	f := alertFacts{address: reach.Alertmanager.Name()}
	client, err := prom.Connect(reach.Alertmanager, c)
	if f.err = err; err != nil {
		return f
	}
	defer client.Close()
	var routing prom.Routing
	routing, f.err = prom.Alertmanager{Client: client}.Routing(ctx)
	f.receivers, f.effect = routing.Receivers, g.EffectOfAlert(routing, externalLabels(ctx, c, reach.Prometheus, g))
	return f
}

// externalLabels are those of Prometheus; none where it is not reached, which observeSeries reports.
func externalLabels(ctx context.Context, c *kube.Cluster, e site.Endpoint, g *telemetry.Gate) map[string]string {
	p, err := prom.ConnectPrometheus(e, nil, c)
	if err != nil {
		return nil
	}
	defer p.Close()
	return g.ExternalLabels(ctx, p)
}
