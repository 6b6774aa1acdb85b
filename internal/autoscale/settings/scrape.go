package settings

import (
	"context"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// scrape reads the exporters' scrape interval and job from Prometheus.
func (f *finder) scrape(ctx context.Context) {
	otherwise := f.w.Site.Telemetry.ScrapeInterval.D()
	if f.w.Prometheus == nil {
		f.add(snapshot.SettingScrape, otherwise, "site telemetry.scrapeInterval", false)
		return
	}
	pool := ""
	if targets, _, err := f.w.Prometheus.Targets(ctx); err == nil {
		for _, t := range targets {
			if IsExporter(t) {
				pool = t.ScrapePool
				break
			}
		}
	}
	config, err := f.w.Prometheus.Config(ctx)
	job, ok := config.Job(pool)
	if !ok {
		job, ok = likely(config)
	}
	switch {
	case err != nil:
		f.add(snapshot.SettingScrape, otherwise, "site telemetry.scrapeInterval", false)
	case ok:
		f.found.Exporters = &job
		f.add(snapshot.SettingScrape, job.ScrapeInterval, "Prometheus /api/v1/status/config, job "+job.Name, false)
	default:
		f.add(snapshot.SettingScrape, config.ScrapeInterval, "Prometheus /api/v1/status/config, global", false)
	}
}

// likely is the exporters' job before their targets exist: the one named after them, or
// the only one.
func likely(c prom.Config) (prom.Job, bool) {
	for _, j := range c.Jobs {
		if strings.Contains(j.Name, "dcgm") {
			return j, true
		}
	}
	if len(c.Jobs) == 1 {
		return c.Jobs[0], true
	}
	return prom.Job{}, false
}

// IsExporter reports whether a target is a dcgm-exporter.
func IsExporter(t prom.Target) bool {
	for _, v := range t.Labels {
		if strings.Contains(v, "dcgm") {
			return true
		}
	}
	return false
}
