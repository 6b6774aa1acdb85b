package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// removeWithin bounds the removal of the load when the check itself is ended.
const removeWithin = 2 * time.Minute

// loadScript puts DCGM's tensor load on every GPU that the container sees.
const loadScript = `exec dcgmproftester13 --no-dcgm-validation -t 1004 -d "$DURATION"`

// free is how many GPUs of each node nobody holds.
func (c *Check) free(u usage) map[string]int {
	free := map[string]int{}
	for node, n := range u.Nodes {
		free[node] = min(n.Free(), c.gpus)
	}
	return free
}

// halves divides the free GPUs of each node in two: what is loaded first, and the
// rest; in each, nodes by how many GPUs of theirs it is.
func halves(free map[string]int) (one, two map[int][]string) {
	one, two = map[int][]string{}, map[int][]string{}
	for _, node := range slices.Sorted(maps.Keys(free)) {
		a := (free[node] + 1) / 2
		if a > 0 {
			one[a] = append(one[a], node)
		}
		if b := free[node] - a; b > 0 {
			two[b] = append(two[b], node)
		}
	}
	return one, two
}

// underLoad loads one half of the free GPUs, then the other beside it, then none,
// and reads the samples each time.
func (o *observer) underLoad(ctx context.Context) error {
	l := o.look(kindUsage, "cluster", "GET nodes, pods: "+kube.GPUResource+" allocatable less requested by live pods")
	held, err := o.cluster.Usage(ctx, o.nodes, kube.GPUResource)
	o.held = usage{Nodes: held}
	if keepErr := o.keep(o.rec, l, o.held, nil, err); keepErr != nil || err != nil {
		return keepErr // recorded
	}
	one, two := halves(o.free(o.held))
	if len(one) == 0 {
		return nil // judged from the usage
	}
	run := &running{observer: o, within: time.Duration(o.profile.Telemetry.RiseWithin.Value * float64(time.Second))}
	followed, err := run.both(ctx, one, two)
	remove, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	if end := run.end(remove); end != nil || err != nil || !followed {
		return errors.Join(err, end)
	}
	o.rec.Progress("waiting for the metrics to fall")
	_, err = o.samples(ctx, after, run.within, func(s samples) bool { return len(o.follow(o.base, s, nil, o.held).wrong) == 0 })
	return err
}

// running is the load while it is there.
type running struct {
	*observer
	within time.Duration
	gangs  []*workload.Gang
	pods   []load
}

// both says whether the metrics followed one half, then the other beside it. What
// did not follow is judged from there: more of the load would not show more.
func (r *running) both(ctx context.Context, one, two map[int][]string) (bool, error) {
	if ok, err := r.half(ctx, first, one); err != nil || !ok || len(two) == 0 {
		return ok, err
	}
	return r.half(ctx, second, two)
}

// half starts one half of the load and reads until its GPUs, and no others, have
// risen. ok is false when it does not run, or they do not.
func (r *running) half(ctx context.Context, name string, nodes map[int][]string) (ok bool, err error) {
	r.rec.Progress("loading GPUs (%s)", name)
	l := r.look(kindLoad, name, "create Jobs of "+loadScript)
	started, err := r.start(ctx, name, nodes)
	if ctx.Err() != nil {
		return false, ctx.Err() //nolint:wrapcheck // interrupted
	}
	if keepErr := r.keep(r.rec, l, started, nil, err); keepErr != nil || err != nil {
		return false, keepErr // recorded
	}
	r.pods = append(r.pods, started)
	left := r.within - r.deps.Clock.Since(l.at)
	return r.samples(ctx, name, left, func(s samples) bool {
		return len(r.defects(s, nil)) == 0 && len(r.follow(r.base, s, r.pods, r.held).wrong) == 0
	})
}

// start starts the Jobs of one half and waits until their pods run.
func (r *running) start(ctx context.Context, name string, nodes map[int][]string) (load, error) {
	out := load{Namespace: kube.NamespaceOf(r.deps.RunID)}
	scheduler, err := r.scheduler(ctx)
	if err != nil {
		return out, err
	}
	launcher := &workload.Launcher{Cluster: r.cluster, RunID: r.deps.RunID, Gang: scheduler}
	limited, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	for _, gpus := range slices.Sorted(maps.Keys(nodes)) {
		gang, err := launcher.Start(limited, workload.Spec{
			Name: fmt.Sprintf("%s-%d", name, gpus), Gate: Name, Pods: len(nodes[gpus]), GPUs: gpus, Image: r.site.Telemetry.LoadImage,
			Container: "dcgmproftester", Script: loadScript, Nodes: nodes[gpus], OnePerNode: true,
			Env: map[string]string{"DURATION": strconv.Itoa(int((4 * r.within).Seconds()))},
		})
		if err != nil {
			return out, fmt.Errorf("start the load: %w", err)
		}
		r.gangs = append(r.gangs, gang)
		if err := gang.WaitRunning(limited); err != nil {
			return out, fmt.Errorf("start the load: %w", err)
		}
		placed, err := gang.PlacementNow(limited)
		if err != nil {
			return out, fmt.Errorf("look where the load is: %w", err)
		}
		for _, pod := range slices.Sorted(maps.Keys(placed.Nodes)) {
			out.Pods = append(out.Pods, loadPod{Name: pod, Node: placed.Nodes[pod], GPUs: gpus})
		}
	}
	return out, nil
}

// scheduler is the gang scheduler, if the site has one: a load needs none, but some
// clusters place nothing without its queue.
func (r *running) scheduler(ctx context.Context) (workload.Scheduler, error) {
	found, err := workload.DetectGang(ctx, r.cluster, r.site.GPUStack.GangScheduler)
	if err != nil || len(found) == 0 {
		return nil, err //nolint:wrapcheck // says what it looked for
	}
	return found[0].Scheduler(r.site.GPUStack.Queue) //nolint:wrapcheck // says what is wrong
}

// end removes the load and says so.
func (r *running) end(ctx context.Context) error {
	var problems []error
	for _, g := range r.gangs {
		if err := g.Delete(ctx); err != nil {
			problems = append(problems, fmt.Errorf("remove the load: %w", err))
		}
	}
	return errors.Join(problems...)
}
