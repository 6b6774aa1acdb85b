package gpustack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
)

// removeWithin limits the deletion of a probe gang after the gate's context has ended.
const removeWithin = 2 * time.Minute

// observeGang detects the gang scheduler and proves it.
func (g *Gate) observeGang(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindGang, "cluster", "discover scheduling.run.ai, scheduling.volcano.sh, scheduling.k8s.io, kueue.x-k8s.io")
	found, err := workload.DetectGang(ctx, cluster, g.stack.GangScheduler)
	if err != nil || len(found) == 0 {
		return attempt.Record(gangFigures{Detected: []workload.Detected{}}, err)
	}
	scheduler, err := found[0].Scheduler(g.stack.Queue)
	if err != nil { // the site file must name a queue
		return attempt.Record(gangFigures{Detected: found, Used: found[0].Name, NoQueue: err.Error()}, nil)
	}
	kind, err := workload.SelectKind(ctx, cluster, scheduler, g.stack.JobKind, g.stack.Queue)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return attempt.Record(gangFigures{Detected: found, Used: found[0].Name, NoKind: err.Error()}, nil)
	}
	used := gangFigures{Detected: found, Used: found[0].Name, Kind: workload.KindName(kind)}
	if err := attempt.Record(used, nil); err != nil {
		return err
	}
	room, err := g.observeUsage(ctx, cluster, rec)
	if err != nil || room.Fits == 0 {
		return err
	}
	launcher := &workload.Launcher{Cluster: cluster, RunID: g.deps.RunID, Gang: scheduler, Kind: kind}
	rec.Progress("gang of %d pods (%s, %s) on free GPUs for %d: none may be placed", room.TooLarge(), used.Used, used.Kind, room.Fits)
	held, err := g.prove(ctx, launcher, rec, targetTooLarge, room, room.TooLarge(), room.GPUsPerPod, nil)
	if err != nil || !held {
		return err
	}
	pods, gpus := room.Fitting()
	rec.Progress("gang of %d pods with %d GPUs each: all must be placed", pods, gpus)
	_, err = g.prove(ctx, launcher, rec, targetFits, room, pods, gpus, g.observeDNS)
	return err
}

// roomIn is the room for the proof.
func (g *Gate) roomIn(usage map[string]kube.Usage) gangproof.Room {
	return gangproof.RoomIn(g.nodes, g.perPod(), usage)
}

// observeUsage records the free GPUs.
func (g *Gate) observeUsage(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) (gangproof.Room, error) {
	attempt := g.begin(rec, kindUsage, "cluster", g.usageCommand())
	usage, err := g.usage(ctx, cluster)
	if err != nil { // the proof needs known room; the error is recorded
		return gangproof.Room{}, attempt.Record(nil, err)
	}
	if err := attempt.Record(usageFigures{Nodes: usage}, nil); err != nil {
		return gangproof.Room{}, err
	}
	return g.roomIn(usage), nil
}

// observeFunc observes a gang while all of it is placed.
type observeFunc func(ctx context.Context, cluster *kube.Cluster, gang *workload.Gang, nodes map[string]string, rec check.Recorder) error

// spec is a probe gang.
func (g *Gate) spec(name string, pods, gpus int, nodes []string) workload.Spec {
	spec := workload.Spec{
		Name: name, Gate: Name, Pods: pods, GPUs: gpus, DeviceClass: g.stack.DeviceClass, Image: g.image,
		Container: probeContainer, Script: probeScript, Nodes: nodes, Patches: g.patches,
	}
	if !g.dra() {
		spec.GPUResource = g.gang
	}
	return spec
}

// Workloads are the smallest gangs that the gate can do with: one pod on a node whose GPUs are all
// free.
func (g *Gate) Workloads() ([]workload.Spec, error) {
	return []workload.Spec{g.spec(targetFits, 1, g.perPod(), g.nodes)}, nil
}

// prove starts a gang, waits for the scheduler's decision, calls whenPlaced (may be nil) if all
// its pods are placed, and deletes it. held is false if a further gang would prove nothing.
func (g *Gate) prove(ctx context.Context, launcher *workload.Launcher, rec check.Recorder, target string, r gangproof.Room, pods, gpus int, whenPlaced observeFunc) (held bool, err error) {
	attempt := g.begin(rec, kindProof, target, fmt.Sprintf("create a gang of %d pods with %d GPUs each on %d nodes; watch their placement", pods, gpus, len(r.Nodes)))
	figures := proofFigures{Scheduler: launcher.Gang.Name(), Kind: workload.KindName(launcher.Kind), GPUsPerPod: gpus, Fits: r.Fits}
	gang, err := launcher.Start(ctx, g.spec(target, pods, gpus, r.Nodes))
	if figures.Webhook = workload.Webhook(err); figures.Webhook != "" {
		figures.Undecided = err.Error()
		return false, attempt.Record(figures, nil)
	}
	if err != nil {
		return false, attempt.Record(nil, err)
	}
	watch, cancel := context.WithTimeout(ctx, g.deadline)
	defer cancel()
	placement, undecided := g.place(watch, gang, target == targetFits)
	figures.Placement = placement
	if undecided != nil {
		figures.Undecided = undecided.Error()
	}
	var placedErr error
	if whenPlaced != nil && undecided == nil && placement.Bound == pods {
		placedErr = whenPlaced(ctx, launcher.Cluster, gang, placement.Nodes, rec)
	}
	remove, stop := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer stop()
	if err := gang.Delete(remove); err != nil {
		return false, errors.Join(placedErr, fmt.Errorf("remove the probe gang %s: %w", target, err))
	}
	if placedErr != nil {
		return false, placedErr
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	after, err := g.usage(ctx, launcher.Cluster)
	if err == nil {
		figures.FitsAfter = r.FitsOn(after)
	}
	return placement.Bound == 0 && undecided == nil, attempt.Record(figures, err)
}

// place waits for the scheduler's decision. A gang that fits may be refused temporarily (GPUs
// that were just released); one that does not fit may never be placed.
func (g *Gate) place(ctx context.Context, gang *workload.Gang, fits bool) (workload.Placement, error) {
	if fits {
		bound := gang.WaitBound(ctx)
		now, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
		defer cancel()
		placement, unread := gang.PlacementNow(now)
		return placement, errors.Join(bound, unread)
	}
	return gang.Placement(ctx, g.settle)
}
