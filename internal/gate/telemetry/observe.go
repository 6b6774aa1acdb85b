package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Observe implements check.Check.
func (g *Gate) Observe(ctx context.Context, rec check.Recorder) error {
	if g.deps.Cluster == nil {
		return errors.New("observe telemetry: Deps.Cluster must be set")
	}
	if g.gang.MIG != nil {
		return nil // unobserved, whatever the series are: neither loads nor alerts
	}
	rec.Progress("waiting for the cluster")
	cluster, err := g.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	p, unreachable := prom.ConnectPrometheus(g.reach.Prometheus, g.telemetry.Matchers, cluster)
	if unreachable != nil {
		return g.begin(rec, kindSeries, targetIdle, "connect to Prometheus").Record(nil, unreachable)
	}
	defer p.Close()
	idle, complete, err := g.observeIdle(ctx, p, rec)
	if err != nil {
		return err
	}
	if !complete { // a load proves nothing about missing series
		return g.observeAlert(ctx, cluster, p, rec)
	}
	if err := g.observeAnswers(ctx, p, rec); err != nil {
		return err
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return g.observeLoads(ctx, cluster, p, idle, rec) })
	both.Go(func() error { return g.observeAlert(ctx, cluster, p, rec) })
	return both.Wait()
}

func (g *Gate) begin(rec check.Recorder, kind, target, command string) check.Attempt {
	return check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kind, target, command)
}

// readInterval is the interval of reading series that are expected to change: a sample is read at most
// a quarter of a scrape interval after its scrape.
func (g *Gate) readInterval() time.Duration { return g.telemetry.ScrapeInterval.D() / 4 }

// poll calls attempt every interval until it is done, returns an error or the timeout is
// over. The attempt after the timeout gets last = true; a timeout is not an error.
func (g *Gate) poll(ctx context.Context, interval, timeout time.Duration, attempt func(last bool) (done bool, err error)) error {
	end := g.deps.Clock.Now().Add(timeout)
	for {
		last := !g.deps.Clock.Now().Before(end)
		done, err := attempt(last)
		if done || err != nil || last {
			return err
		}
		timer := g.deps.Clock.NewTimer(interval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
