package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// removeWithin limits the deletion of the load after the gate's context has ended.
const removeWithin = 2 * time.Minute

// observeLoads starts loads on GPUs and records whether the series follow: first on a different
// number of GPUs of each node, then on all. It stops at the first load that they do not follow.
func (g *Gate) observeLoads(ctx context.Context, cluster *kube.Cluster, p prom.Prometheus, idle seriesFigures, rec check.Recorder) error {
	class, err := inventory.Class(ctx, cluster, g.gang, g.nodes)
	if err != nil {
		return g.begin(rec, kindUsage, targetCluster, "GET nodes, resourceslices").Record(nil, err)
	}
	attempt := g.begin(rec, kindUsage, targetCluster, inventory.UsageCommand(class))
	usage, err := inventory.UsageBy(ctx, cluster, class, g.nodes)
	if err := attempt.Record(usageFigures{Nodes: usage}, err); err != nil {
		return err
	}
	if err != nil || len(g.busy(usage)) > 0 {
		return nil //nolint:nilerr // recorded, and judged from there
	}
	scheduler, err := g.scheduler(ctx, cluster)
	if err != nil {
		return g.begin(rec, kindLoad, targetCluster, "find the gang scheduler").Record(nil, err)
	}
	loads := &loads{Gate: g, prometheus: p, rec: rec, launcher: &workload.Launcher{Cluster: cluster, RunID: g.deps.RunID, Gang: scheduler, DeviceClass: class}}
	for i, want := range g.rounds() {
		// The first round begins with idle GPUs: once as many series have risen as GPUs are
		// loaded, no more will.
		final := i == 0 && !slices.ContainsFunc(idle.Series, g.risen)
		followed, err := loads.observe(ctx, partialTarget(i), partialTarget(i), want, func(load loadFigures, state seriesFigures) (bool, bool) {
			return len(g.loadDefects(want, load, state)) == 0, final && g.allRisen(want, state)
		})
		if err != nil || !followed {
			return err
		}
	}
	_, err = loads.observe(ctx, targetCluster, targetLoaded, g.whole(), func(load loadFigures, state seriesFigures) (bool, bool) {
		return len(g.loadDefects(g.whole(), load, state)) == 0, false
	})
	return err
}

// allRisen reports whether as many series have risen as GPUs are loaded.
func (g *Gate) allRisen(want map[string]int, state seriesFigures) bool {
	loaded, risen := 0, 0
	for _, n := range want {
		loaded += n
	}
	for _, s := range state.Series {
		if g.risen(s) {
			risen++
		}
	}
	return loaded == risen
}

// scheduler is the site's gang scheduler, if any: a load does not need it, but some clusters
// place no pods without its queue.
func (g *Gate) scheduler(ctx context.Context, cluster *kube.Cluster) (workload.Scheduler, error) {
	found, err := workload.DetectGang(ctx, cluster, g.gang.GangScheduler)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Scheduler(g.gang.Queue)
}

// loads starts loads one after the other.
type loads struct {
	*Gate
	prometheus prom.Prometheus
	rec        check.Recorder
	launcher   *workload.Launcher
}

// followFunc reports whether the series follow a load, and whether waiting longer is useless.
type followFunc func(load loadFigures, state seriesFigures) (followed, final bool)

// observe starts a load on the wanted number of GPUs of each node, waits until the series
// follow, and deletes the load. target is the target of the load's observation, seriesTarget
// of the series'.
func (l *loads) observe(ctx context.Context, target, seriesTarget string, want map[string]int, follows followFunc) (followed bool, err error) {
	begun := l.deps.Clock.Now()
	attempt := l.begin(l.rec, kindLoad, target, fmt.Sprintf("run dcgmproftester -t 1004 on GPUs of nodes: %v", want))
	l.rec.Progress("loading GPUs (%s)", target)
	gangs, figures, failed := l.start(ctx, target, want)
	if ctx.Err() == nil {
		if err = attempt.Record(figures, failed); err == nil && failed == nil {
			l.rec.Progress("waiting for the series to follow the load")
			followed, err = l.follow(ctx, begun, seriesTarget, figures, follows)
		}
	} else {
		err = ctx.Err()
	}
	return followed, errors.Join(err, remove(ctx, gangs))
}

// remove deletes the gangs of a load, also after ctx has ended.
func remove(ctx context.Context, gangs []*workload.Gang) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	problems := make([]error, len(gangs))
	var removing sync.WaitGroup
	for i, gang := range gangs {
		removing.Go(func() {
			if err := gang.Delete(ctx); err != nil {
				problems[i] = fmt.Errorf("remove the load: %w", err)
			}
		})
	}
	removing.Wait()
	return errors.Join(problems...)
}

// start starts a gang for each number of GPUs, all at once, and waits until all run.
func (l *loads) start(ctx context.Context, target string, want map[string]int) ([]*workload.Gang, loadFigures, error) {
	figures := loadFigures{Nodes: map[string]string{}, GPUs: map[string]int{}}
	ctx, cancel := context.WithTimeout(ctx, l.profile.RiseWithin.Duration())
	defer cancel()
	groups := byCount(want)
	gangs := make([]*workload.Gang, len(groups))
	placements := make([]workload.Placement, len(groups))
	starting, within := errgroup.WithContext(ctx)
	for i, gpus := range slices.Sorted(maps.Keys(groups)) {
		starting.Go(func() (err error) {
			if gangs[i], err = l.launcher.Start(within, l.spec(target, gpus, groups[gpus])); err != nil {
				return err
			}
			if err := gangs[i].WaitRunning(within); err != nil {
				return err
			}
			placements[i], err = gangs[i].PlacementNow(within)
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		return slices.DeleteFunc(gangs, func(g *workload.Gang) bool { return g == nil }), figures, err
	}
	uids := map[string]types.UID{}
	for i, gang := range gangs {
		figures.Namespace = gang.Namespace
		maps.Copy(uids, placements[i].UIDs)
		for pod, node := range placements[i].Nodes {
			figures.Nodes[pod], figures.GPUs[pod] = node, gang.Spec.GPUs
		}
	}
	if class := l.launcher.DeviceClass; class != "" {
		claims := allocation.Read(ctx, l.launcher.Cluster, class, figures.Namespace, figures.Nodes, uids)
		figures.Claims = &claims
	}
	figures.Since = l.deps.Clock.Now()
	return gangs, figures, nil
}

// Workloads are the pods of the load on every GPU.
func (g *Gate) Workloads() ([]workload.Spec, error) {
	return []workload.Spec{g.spec(targetCluster, g.gpus, g.nodes)}, nil
}

func (g *Gate) spec(target string, gpus int, nodes []string) workload.Spec {
	return workload.Spec{
		Name: fmt.Sprintf("gpu-load-%s-%d", target, gpus), Gate: Name, Pods: len(nodes), GPUs: gpus, Image: g.telemetry.LoadImage,
		Container: site.LoadContainer, Script: workload.GPULoadScript, Nodes: nodes, OnePerNode: true,
		Env:     map[string]string{"DURATION": strconv.Itoa(int(g.lasts().Seconds()))},
		Patches: g.patches,
	}
}

// follow reads the series until they follow the load, and records the first and the last state.
func (l *loads) follow(ctx context.Context, begun time.Time, seriesTarget string, load loadFigures, follows followFunc) (followed bool, err error) {
	first, final := true, time.Time{}
	left := max(l.settle(), l.profile.RiseWithin.Duration()-l.deps.Clock.Since(begun))
	err = l.poll(ctx, l.readInterval(), left, func(last bool) (bool, error) {
		at := l.deps.Clock.Now()
		attempt := l.begin(l.rec, kindSeries, seriesTarget, seriesCommand(l.prometheus))
		state, raw, err := readSeries(ctx, l.prometheus)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		over := false
		followed = false
		if err == nil {
			followed, over = follows(load, state)
		}
		switch {
		case !over:
			final = time.Time{}
		case final.IsZero():
			final = at
		default: // a series may need this time to settle
			last = last || at.Sub(final) >= l.settle()
		}
		if !first && !followed && !last {
			return false, nil
		}
		first = false
		return followed || last, attempt.Raw(raw).Record(state, err)
	})
	return followed, err
}

// settle is the time that series need to follow a load.
func (g *Gate) settle() time.Duration { return times(g.telemetry.ScrapeInterval, g.profile.Settle) }

// lasts is how long each pod of a load runs: the load starts, and its series settle.
func (g *Gate) lasts() time.Duration { return g.profile.RiseWithin.Duration() + g.settle() }

// mistimed returns why series that do not follow a load prove nothing: they were read before
// they had time to follow, or after the load had ended. A process that was not scheduled for
// minutes reads them late; begun and read are the times of the observations of load and series.
func (g *Gate) mistimed(load loadFigures, begun, read time.Time) string {
	switch after := read.Sub(load.Since); {
	case after < g.settle():
		return fmt.Sprintf("were read %s after it ran, and may need %s to follow", after.Round(time.Second), g.settle())
	case read.After(begun.Add(g.lasts())):
		return fmt.Sprintf("were read %s after it began, and it ends after %s", read.Sub(begun).Round(time.Second), g.lasts())
	default:
		return ""
	}
}

// busy are the nodes with fewer free GPUs than the profile has.
func (g *Gate) busy(usage map[string]kube.Usage) []string {
	var out []string
	for _, n := range g.nodes {
		if usage[n].Free() < g.gpus {
			out = append(out, n)
		}
	}
	return out
}
