package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/workload"
)

// removeTimeout limits the removal of the load, also after the check was interrupted.
const removeTimeout = 2 * time.Minute

// free counts the GPUs of each node that are not in use.
func (c *Check) free(u usage) map[string]int {
	free := map[string]int{}
	for node, n := range u.Nodes {
		free[node] = min(n.Free(), c.gpus)
	}
	return free
}

// halves divides the free GPUs of each node in two halves, which are loaded one after the
// other. Each maps a number of GPUs to the nodes that load as many.
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

// underLoad loads one half of the free GPUs, then both halves, then none, and reads the
// samples each time.
func (o *observer) underLoad(ctx context.Context) error {
	attempt := o.rec.Begin(kindUsage, "cluster", inventory.UsageCommand(o.class))
	held, err := inventory.UsageBy(ctx, o.cluster, o.class, o.nodes)
	o.held = usage{Nodes: held}
	if recordErr := attempt.Record(o.held, err); recordErr != nil || err != nil {
		return recordErr
	}
	one, two := halves(o.free(o.held))
	if len(one) == 0 {
		return nil // Judge reports it from the usage
	}
	run := &running{observer: o, timeout: o.profile.Telemetry.RiseWithin.Duration()}
	followed, err := run.both(ctx, one, two)
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if removeErr := run.remove(cleanup); removeErr != nil || err != nil || !followed {
		return errors.Join(err, removeErr)
	}
	o.rec.Progress("waiting for the metrics to fall")
	_, err = o.samples(ctx, after, run.timeout, func(s samples) bool { return len(o.follow(o.base, s, nil, o.held).defects) == 0 })
	return err
}

// running is the load that runs.
type running struct {
	*observer
	timeout time.Duration
	gangs   []*workload.Gang
	loads   []load
}

// both loads one half, then the other too, and reports whether the metrics followed. It stops
// at the first half that they do not follow: more load would prove no more.
func (r *running) both(ctx context.Context, one, two map[int][]string) (bool, error) {
	if ok, err := r.half(ctx, first, one); err != nil || !ok || len(two) == 0 {
		return ok, err
	}
	return r.half(ctx, second, two)
}

// half starts one half of the load and reads until the metrics of its GPUs, and of no others,
// have risen. ok is false when the load does not run, or they do not rise.
func (r *running) half(ctx context.Context, name string, nodes map[int][]string) (ok bool, err error) {
	r.rec.Progress("loading GPUs (%s)", name)
	began := r.deps.Clock.Now()
	attempt := r.rec.Begin(kindLoad, name, "create Jobs of dcgmproftester -t 1004")
	started, err := r.start(ctx, name, nodes)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if recordErr := attempt.Record(started, err); recordErr != nil || err != nil {
		return false, recordErr
	}
	r.loads = append(r.loads, started)
	return r.samples(ctx, name, max(r.settle(), r.timeout-r.deps.Clock.Since(began)), func(s samples) bool {
		return len(r.defects(s, nil)) == 0 && len(r.follow(r.base, s, r.loads, r.held).defects) == 0
	})
}

// spec is the load of nodes with the same number of GPUs.
func (r *running) spec(name string, gpus int, nodes []string) workload.Spec {
	return workload.Spec{
		Name: fmt.Sprintf("%s-%d", name, gpus), Gate: Name, Pods: len(nodes), GPUs: gpus, DeviceClass: r.class, Image: r.site.Telemetry.LoadImage,
		Container: "dcgmproftester", Script: workload.GPULoadScript, Nodes: nodes, OnePerNode: true, Patches: r.deps.PodPatches,
		Env: map[string]string{"DURATION": strconv.Itoa(int((4 * r.timeout).Seconds()))},
	}
}

// start starts the Jobs of one half and waits until their pods run.
func (r *running) start(ctx context.Context, name string, nodes map[int][]string) (load, error) {
	out := load{Namespace: r.cluster.NamespaceFor(r.deps.RunID)}
	scheduler, err := r.scheduler(ctx)
	if err != nil {
		return out, err
	}
	launcher := &workload.Launcher{Cluster: r.cluster, RunID: r.deps.RunID, Gang: scheduler}
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for _, gpus := range slices.Sorted(maps.Keys(nodes)) {
		gang, err := launcher.Start(limited, r.spec(name, gpus, nodes[gpus]))
		if err != nil {
			return out, fmt.Errorf("start the load: %w", err)
		}
		r.gangs = append(r.gangs, gang)
		if err := gang.WaitRunning(limited); err != nil {
			return out, fmt.Errorf("start the load: %w", err)
		}
		placed, err := gang.PlacementNow(limited)
		if err != nil {
			return out, fmt.Errorf("read the placement of the load: %w", err)
		}
		for _, pod := range slices.Sorted(maps.Keys(placed.Nodes)) {
			out.Pods = append(out.Pods, loadPod{Name: pod, Node: placed.Nodes[pod], GPUs: gpus})
		}
	}
	return out, nil
}

// scheduler is the site's gang scheduler, nil without one. The load needs no gang, but some
// clusters place no pod without a queue.
func (r *running) scheduler(ctx context.Context) (workload.Scheduler, error) {
	found, err := workload.DetectGang(ctx, r.cluster, r.site.GPUStack.GangScheduler)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Scheduler(r.site.GPUStack.Queue)
}

func (r *running) remove(ctx context.Context) error {
	var problems []error
	for _, g := range r.gangs {
		if err := g.Delete(ctx); err != nil {
			problems = append(problems, fmt.Errorf("remove the load: %w", err))
		}
	}
	return errors.Join(problems...)
}
