package metrics

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	p, err := prom.ConnectPrometheus(c.site.Reach.Prometheus, c.site.Telemetry.Matchers, cluster)
	if err != nil {
		return rec.Begin(kindSamples, before, "connect to Prometheus").Record(nil, err)
	}
	defer p.Close()
	o := &observer{Check: c, cluster: cluster, prom: p, rec: rec}
	complete, err := o.complete(ctx)
	if err != nil || !complete {
		return err // a load proves nothing about missing samples
	}
	return o.underLoad(ctx)
}

type observer struct {
	*Check
	cluster *kube.Cluster
	prom    prom.Prometheus
	rec     check.Observer
	// base are the samples before the load, held the users of GPUs at that time.
	base samples
	held usage
}

// complete waits for the samples of every GPU, for as long as new targets take, and records
// the scrape targets where samples are missing.
func (o *observer) complete(ctx context.Context) (bool, error) {
	o.rec.Progress("querying the metrics of %d GPUs", o.Claims())
	var began time.Time
	complete, err := o.samples(ctx, before, o.settle(), func(s samples) bool {
		if began.IsZero() {
			began = s.Now
		}
		o.base = s
		return len(o.defects(s, nil)) == 0 && s.since(began)
	})
	if err != nil || complete {
		return complete, err
	}
	attempt := o.rec.Begin(kindTargets, o.prom.Name(), "GET /api/v1/targets?state=active")
	found, raw, err := o.prom.Targets(ctx)
	t := targets{Active: len(found)}
	for _, target := range found {
		if target.Health != "up" || target.IsDCGM() {
			t.Targets = append(t.Targets, target)
		}
	}
	return false, attempt.Raw(raw).Record(t, err)
}

// since reports whether every sample is newer than a time of Prometheus' clock: an older one
// does not show that its exporter still works.
func (s samples) since(began time.Time) bool {
	for _, g := range s.GPUs {
		for _, list := range g.Samples {
			for _, v := range list {
				if !v.At.After(began) {
					return false
				}
			}
		}
	}
	return true
}

// samples reads until done reports true, or timeout, and records the first and the last
// samples. The error is that of the context or the store.
func (o *observer) samples(ctx context.Context, target string, timeout time.Duration, done func(samples) bool) (bool, error) {
	end := o.deps.Clock.Now().Add(timeout)
	for n := 0; ; n++ {
		late := !o.deps.Clock.Now().Before(end)
		attempt := o.rec.Begin(kindSamples, target, "query the metrics; query their timestamps")
		s, raw, err := o.read(ctx, o.prom)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		ok := err == nil && done(s)
		if err == nil && !ok && target != before {
			if s.Users, err = o.others(ctx); err == nil {
				ok = done(s)
			}
		}
		if n == 0 || ok || late {
			if err := attempt.Raw(raw).Record(s, err); err != nil {
				return false, err
			}
		}
		if ok || late {
			return ok, nil
		}
		timer := o.deps.Clock.NewTimer(o.site.Telemetry.ScrapeInterval.D())
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err()
		}
	}
}

// others are the users of GPUs now, without the pods in the namespace of the run.
func (o *observer) others(ctx context.Context) (*usage, error) {
	nodes, err := inventory.UsageBy(ctx, o.cluster, o.class, o.nodes)
	if err != nil {
		return nil, fmt.Errorf("read the users of GPUs: %w", err)
	}
	own := o.cluster.NamespaceFor(o.deps.RunID)
	for name, u := range nodes {
		u.Holders = slices.DeleteFunc(u.Holders, func(h kube.Holder) bool { return h.Namespace == own })
		nodes[name] = u
	}
	return &usage{Nodes: nodes}, nil
}
