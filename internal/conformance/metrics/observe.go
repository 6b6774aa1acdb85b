package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.invalid != nil {
		return c.invalid
	}
	if c.deps.Cluster == nil {
		return errors.New("observe accelerator metrics: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	log := calls.NewLog(c.deps.Clock)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	return errors.Join(c.observe(ctx, cluster, rec), log.Keep(rec, "cluster"))
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	client, err := prom.Connect(prom.Endpoint(c.site.Reach.Prometheus), cluster)
	if err != nil {
		return c.keep(rec, c.look(kindSamples, before, "connect to Prometheus"), nil, nil, err)
	}
	defer client.Close()
	o := &observer{Check: c, cluster: cluster, prom: prom.Prometheus{Client: client}, rec: rec}
	complete, err := o.complete(ctx)
	if err != nil || !complete {
		return err // a load proves nothing about samples that are not there
	}
	return o.underLoad(ctx)
}

// observer is one observation of the check.
type observer struct {
	*Check
	cluster *kube.Cluster
	prom    prom.Prometheus
	rec     check.Recorder
	// base are the samples before the load, held who had GPUs then.
	base samples
	held usage
}

// complete waits for the samples of every GPU, as long as new targets take, and
// says why they are missing.
func (o *observer) complete(ctx context.Context) (bool, error) {
	o.rec.Progress("looking for the metrics of %d GPUs", o.Claims())
	settle := time.Duration(float64(o.site.Telemetry.ScrapeInterval) * o.profile.Telemetry.Settle.Value)
	var began time.Time
	complete, err := o.samples(ctx, before, settle, func(s samples) bool {
		if began.IsZero() {
			began = s.Now
		}
		o.base = s
		return len(o.defects(s, nil)) == 0 && s.since(began)
	})
	if err != nil || complete {
		return complete, err
	}
	l := o.look(kindTargets, o.prom.Name(), "GET /api/v1/targets?state=active")
	found, raw, err := o.prom.Targets(ctx)
	t := targets{Active: len(found)}
	for _, target := range found {
		if target.Health != "up" || isExporter(target) {
			t.Targets = append(t.Targets, target)
		}
	}
	return false, o.keep(o.rec, l, t, raw, err)
}

// since says that every sample was taken after a moment of Prometheus' clock: one of
// before the check says nothing of an exporter that has died since.
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

func isExporter(t prom.Target) bool {
	for _, v := range t.Labels {
		if strings.Contains(v, "dcgm") {
			return true
		}
	}
	return false
}

// samples reads until done says so, at most for the time given, and records the
// first and the last of what it read. The error is for a context that ended and a
// store that failed.
func (o *observer) samples(ctx context.Context, target string, within time.Duration, done func(samples) bool) (bool, error) {
	end := o.deps.Clock.Now().Add(within)
	for n := 0; ; n++ {
		over := !o.deps.Clock.Now().Before(end)
		l := o.look(kindSamples, target, "query the metrics; query their timestamps")
		s, raw, err := o.read(ctx, o.prom)
		if ctx.Err() != nil {
			return false, ctx.Err() //nolint:wrapcheck // interrupted
		}
		ok := err == nil && done(s)
		if n == 0 || ok || over {
			if err := o.keep(o.rec, l, s, raw, err); err != nil {
				return false, err
			}
		}
		if ok || over {
			return ok, nil
		}
		timer := o.deps.Clock.NewTimer(o.site.Telemetry.ScrapeInterval.D())
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return false, ctx.Err() //nolint:wrapcheck // interrupted
		}
	}
}
