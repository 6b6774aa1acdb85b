package metric

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

func (s *Sampler) readPrometheus(ctx context.Context) {
	if s.c.Prometheus == nil {
		s.keep(ctx, snapshot.ProblemPrometheus, s.c.Unreachable, func(time.Time) {})
		return
	}
	v, err := readValue(ctx, *s.c.Prometheus, s.c.Metric.Query)
	s.keep(ctx, snapshot.ProblemPrometheus, err, func(now time.Time) { s.prom = add(s.prom, reading(now, v, err)) })
	parts, err := readMade(ctx, *s.c.Prometheus, inNamespace(s.c.Metric, s.c.Namespace), s.c.Window, s.c.Scrape, s.known(), s.c.Clock.Now())
	s.keep(ctx, snapshot.ProblemPrometheus+"/made", err, func(time.Time) { s.made = parts })
}

func (s *Sampler) readCoverage(ctx context.Context) {
	if s.c.Prometheus == nil {
		return
	}
	s.findPods(ctx)
	// A sample from before the chain, or from its first scrape, does not prove a running
	// exporter.
	fresh := min(s.c.Fresh, s.c.Clock.Since(s.began)-s.c.Scrape)
	c, err := readCoverage(ctx, *s.c.Prometheus, s.c.Metric.Series, s.c.GPUs, s.known(), fresh)
	s.keep(ctx, snapshot.ProblemPrometheus+"/coverage", err, func(time.Time) {
		if err == nil {
			s.coverage = c
		}
	})
}

// findPods updates the exporter of each node.
func (s *Sampler) findPods(ctx context.Context) {
	pods, err := findExporters(ctx, s.c.Cluster, s.c.Stack)
	s.keep(ctx, snapshot.ProblemExporter, err, func(time.Time) {
		if err != nil {
			return
		}
		h := hosts{nodes: s.hosts.nodes, byPod: map[string]string{}, byIP: map[string]string{}}
		for _, p := range pods {
			h.byPod[p.name] = p.node
			if p.ip != "" {
				h.byIP[p.ip] = p.node
			}
		}
		s.pods, s.hosts = pods, h
	})
}

func (s *Sampler) known() hosts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts
}

func (s *Sampler) readAPI(ctx context.Context) {
	version, err := s.apiVersion(ctx)
	v := 0.0
	if err == nil {
		v, err = s.api.value(ctx, version)
	}
	s.keep(ctx, snapshot.ProblemMetricsAPI, err, func(now time.Time) { s.atAPI = add(s.atAPI, reading(now, v, err)) })
}

// apiVersion discovers the version once.
func (s *Sampler) apiVersion(ctx context.Context) (string, error) {
	s.mu.Lock()
	known := s.version
	s.mu.Unlock()
	if known != "" {
		return known, nil
	}
	version, err := s.api.version(ctx)
	if err == nil && version == "" {
		err = fmt.Errorf("%w: %s has no version", errNoValue, Group(s.c.Metric.API))
	}
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
	return version, nil
}

func (s *Sampler) readListed(ctx context.Context) {
	version, err := s.apiVersion(ctx)
	if err != nil {
		return // reported by readAPI
	}
	names, err := s.api.listed(ctx, version)
	s.keep(ctx, snapshot.ProblemMetricsAPI+"/list", err, func(time.Time) { s.listed = names })
}
