package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/workload"
)

// removeWithin bounds the removal of the load when the gate itself is ended.
const removeWithin = 2 * time.Minute

// loadScript puts DCGM's tensor load on every GPU that the container sees.
const loadScript = `exec dcgmproftester13 --no-dcgm-validation -t 1004 -d "$DURATION"`

// observeLoaded puts a load on every GPU and sees whether the series follow.
func (g *Gate) observeLoaded(ctx context.Context, cluster *kube.Cluster, p prom.Prometheus, rec check.Recorder) error {
	l := g.look(kindUsage, "cluster", "GET nodes, pods: "+kube.GPUResource+" allocatable less requested by live pods")
	usage, err := cluster.Usage(ctx, g.nodes, kube.GPUResource)
	if err := g.keep(rec, l, usageFigures{Nodes: usage}, nil, err); err != nil {
		return err
	}
	if err != nil || len(g.busy(usage)) > 0 {
		return nil // recorded, and judged from there
	}
	scheduler, err := g.scheduler(ctx, cluster)
	l = g.look(kindLoad, "cluster", fmt.Sprintf("run %s on %d GPUs of each of %d nodes", loadScript, g.gpus, len(g.nodes)))
	if err != nil {
		return g.keep(rec, l, nil, nil, err)
	}
	rec.Progress("loading %d GPUs", g.Claims())
	launcher := &workload.Launcher{Cluster: cluster, RunID: g.deps.RunID, Gang: scheduler}
	load, err := launcher.Start(ctx, g.load())
	if err != nil {
		return g.keep(rec, l, nil, nil, err)
	}
	seen := g.watchLoad(ctx, load, l, p, rec)
	remove, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	if err := load.Delete(remove); err != nil {
		return errors.Join(seen, fmt.Errorf("remove the load: %w", err))
	}
	return seen
}

func (g *Gate) load() workload.Spec {
	return workload.Spec{
		Name: "gpu-load", Gate: Name, Pods: len(g.nodes), GPUs: g.gpus, Image: g.telemetry.LoadImage,
		Container: "dcgmproftester", Script: loadScript, Nodes: g.nodes, OnePerNode: true,
		Env: map[string]string{"DURATION": strconv.Itoa(int(g.profile.RiseWithin.Value))},
	}
}

// scheduler is the gang scheduler, if the site has one: a load needs none, but
// some clusters place nothing without its queue.
func (g *Gate) scheduler(ctx context.Context, cluster *kube.Cluster) (workload.Scheduler, error) {
	found, err := workload.DetectGang(ctx, cluster, g.gang.GangScheduler)
	if err != nil || len(found) == 0 {
		return nil, err //nolint:wrapcheck // says what it looked for
	}
	return found[0].Scheduler(g.gang.Queue) //nolint:wrapcheck // says what is wrong
}

// watchLoad waits for the load to run, then for every series to follow it.
func (g *Gate) watchLoad(ctx context.Context, load *workload.Gang, l look, p prom.Prometheus, rec check.Recorder) error {
	within := seconds(g.profile.RiseWithin)
	start, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := load.WaitRunning(start)
	if ctx.Err() != nil {
		return ctx.Err() //nolint:wrapcheck // interrupted
	}
	figures := loadFigures{Since: g.deps.Clock.Now(), Nodes: map[string]string{}}
	if err == nil {
		placement, unread := load.PlacementNow(ctx)
		figures.Nodes, err = placement.Nodes, unread
	}
	if err := g.keep(rec, l, figures, nil, err); err != nil {
		return err
	}
	if err != nil {
		return nil // recorded
	}
	rec.Progress("waiting for the series to follow the load")
	first := true
	left := within - g.deps.Clock.Since(l.at)
	return g.poll(ctx, g.telemetry.ScrapeInterval.D(), left, func(last bool) (bool, error) {
		l := g.look(kindSeries, targetLoaded, "query "+metric+"; query timestamp("+metric+")")
		state, raw, err := readSeries(ctx, p)
		if ctx.Err() != nil {
			return false, ctx.Err() //nolint:wrapcheck // interrupted
		}
		done := err == nil && len(g.defects(state, hints{})) == 0 && g.lowest(state) >= g.profile.MinUtilUnderLoad.Value
		if !first && !done && !last {
			return false, nil
		}
		first = false
		return done, g.keep(rec, l, state, raw, err)
	})
}

// lowest is the lowest utilisation of any series; there is at least one.
func (g *Gate) lowest(f seriesFigures) float64 {
	low := f.Series[0].Util
	for _, s := range f.Series {
		low = min(low, s.Util)
	}
	return low
}

// busy are the nodes on which not every GPU is free.
func (g *Gate) busy(usage map[string]kube.Usage) []string {
	var out []string
	for _, n := range g.nodes {
		if usage[n].Free() < g.gpus {
			out = append(out, n)
		}
	}
	return out
}
