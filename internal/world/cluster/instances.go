package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
)

// Labels of Karpenter's nodes and claims.
const (
	labelPool = "karpenter.sh/nodepool"
	labelRun  = "firstlight.dev/run"
)

// instancesEvery is the sync interval while a fault is active.
const instancesEvery = 200 * time.Millisecond

// instances implements faults of the autoscaler's cloud provider: slow boots, spare nodes and
// blocker pods. Without a fault it does nothing, and Karpenter's KWOK provider creates nodes at
// once.
type instances struct {
	client   kubernetes.Interface
	dyn      dynamic.Interface
	world    *world.World
	informer cache.SharedIndexInformer
	log      *slog.Logger

	// token serializes sync and guards the fields below.
	token chan struct{}
	// boots has the delays of node classes before the fault.
	boots map[string]string
	// spareNodes and blockerPods: such objects may exist.
	spareNodes, blockerPods bool
	// sweepUntil is when all booting instances have appeared.
	sweepUntil time.Time
}

func newInstances(client kubernetes.Interface, dyn dynamic.Interface, w *world.World, nodes cache.SharedIndexInformer, log *slog.Logger) *instances {
	return &instances{client: client, dyn: dyn, world: w, informer: nodes, log: log, token: make(chan struct{}, 1), boots: map[string]string{}}
}

// run syncs until ctx ends.
func (i *instances) run(ctx context.Context) {
	notices, cancel := i.world.Subscribe()
	defer cancel()
	tick := time.NewTicker(instancesEvery)
	defer tick.Stop()
	for {
		busy, err := i.sync(ctx)
		if err != nil && ctx.Err() == nil {
			i.log.Warn("instances", "err", err)
		}
		again := tick.C
		if !busy {
			again = nil // no fault
		}
		select {
		case <-ctx.Done():
			return
		case <-notices:
		case <-again:
		}
	}
}

// sync makes instances match the world. busy reports an active fault or remaining traces of one.
func (i *instances) sync(ctx context.Context) (busy bool, err error) {
	select {
	case i.token <- struct{}{}:
		defer func() { <-i.token }()
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
	state := i.world.Recent()
	a := state.Autoscale
	sweeping, err := i.syncBoots(ctx, a.Boot, state.Now)
	errs := []error{err}
	if a.SpareNodes || i.spareNodes {
		errs = append(errs, i.syncSpareNodes(ctx, a.SpareNodes, state.Now))
	}
	if a.BlockerPods || i.blockerPods {
		errs = append(errs, i.syncBlockerPods(ctx, a.BlockerPods))
	}
	wrong := a.Boot > 0 || a.SpareNodes || a.BlockerPods
	return wrong || sweeping || len(i.boots) > 0 || i.spareNodes || i.blockerPods, errors.Join(errs...)
}

// syncBoots sets the boot delays and sweeps nodes of abandoned claims. sweeping reports that more
// can appear.
func (i *instances) syncBoots(ctx context.Context, delay time.Duration, now time.Time) (sweeping bool, err error) {
	var errs []error
	if delay > 0 {
		i.sweepUntil = now.Add(min(delay, maxBoot) + sweepAfter)
	}
	if len(i.made()) == 0 {
		delay = 0 // the first instance is not affected
	}
	if delay > 0 || len(i.boots) > 0 {
		errs = append(errs, i.boot(ctx, delay))
	}
	sweeping = now.Before(i.sweepUntil)
	if sweeping {
		errs = append(errs, i.sweep(ctx, now))
	}
	return sweeping, errors.Join(errs...)
}

// made returns the nodes that the autoscaler created for a run, except nodes being deleted.
func (i *instances) made() []*corev1.Node {
	var out []*corev1.Node
	for _, obj := range i.informer.GetStore().List() {
		n, ok := obj.(*corev1.Node)
		if ok && n.Labels[labelRun] != "" && n.Labels[labelPool] != "" && n.DeletionTimestamp == nil {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Node) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return out
}

// wrap adds context; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
