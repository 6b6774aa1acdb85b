package autoscale

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// before sees what the chain goes through, with NodePools of the run's own made.
func (d *drive) before(ctx context.Context) (bool, error) {
	if err := d.values.Validate(); err != nil {
		return false, fmt.Errorf("plan the chain: %w", err)
	}
	if passed, err := d.hop(ctx, snapshot.HopAdapter); !passed || err != nil {
		return false, err
	}
	if passed, err := d.createPools(ctx); !passed || err != nil {
		return false, err
	}
	return d.hops(ctx, snapshot.HopPool, snapshot.HopSeries)
}

// createPools creates the NodePools of the run: its first objects.
func (d *drive) createPools(ctx context.Context) (bool, error) {
	if err := (kube.Guest{Cluster: d.cluster}).Hold(ctx, d.setup.Run); err != nil {
		return d.refused(ctx, snapshot.HopPool, fmt.Errorf("hold the run: %w", err))
	}
	for _, pool := range render.Pools(d.values) {
		if err := d.create(ctx, pool); err != nil {
			return d.refused(ctx, snapshot.HopPool, err)
		}
	}
	return true, nil
}

// control places the workload and sees that nothing scales without load.
func (d *drive) control(ctx context.Context) (bool, error) {
	if err := d.place(ctx); err != nil {
		return d.refused(ctx, snapshot.HopPlaced, err)
	}
	if passed, err := d.hop(ctx, snapshot.HopPlaced); !passed || err != nil {
		return false, err
	}
	if err := d.keepFirst(ctx); err != nil {
		return d.refused(ctx, snapshot.HopPlaced, err)
	}
	if passed, err := d.hop(ctx, snapshot.HopServed); !passed || err != nil {
		return false, err
	}
	if d.values.Zero != "" {
		if _, err := d.cluster.Client.CoreV1().Pods(d.setup.Namespace).Create(ctx, render.Zero(d.values), metav1.CreateOptions{}); err != nil {
			return d.refused(ctx, snapshot.HopLimitZero, fmt.Errorf("create pod %s: %w", render.ZeroPod, err))
		}
	}
	if passed, err := d.window(ctx); !passed || err != nil {
		return false, err
	}
	if passed, err := d.hop(ctx, snapshot.HopLimitZero); !passed || err != nil {
		return false, err
	}
	return true, d.removeZero(ctx)
}

// window watches during the period without scaling. A scaling event ends it.
func (d *drive) window(ctx context.Context) (bool, error) {
	// The HPA's first word and the first value are of before the window.
	d.mark(snapshot.MarkWindow)
	end := d.now().Add(d.setup.Window.Duration)
	d.told = time.Time{}
	for d.now().Before(end) {
		st := d.state()
		r := judge.Hop(snapshot.HopFlat, d.setup, st)
		if r.Verdict == check.Failed {
			return false, d.record(snapshot.HopFlat, d.marks[snapshot.MarkWindow], st, r)
		}
		left := end.Sub(d.now())
		d.waiting(snapshot.HopFlat, judge.Result{Judgement: check.Judgement{Reason: "nothing may scale without load"}, Object: r.Object}, d.setup.Window.Duration-left, d.setup.Window.Duration)
		if err := d.wait(ctx, min(lookEvery, max(left, time.Millisecond))); err != nil {
			return false, err
		}
	}
	d.mark(snapshot.MarkWindowTo)
	return d.hopSince(ctx, snapshot.HopFlat, d.marks[snapshot.MarkWindow])
}

// up starts the load and observes the scale-up.
func (d *drive) up(ctx context.Context) (bool, error) {
	d.rec.Progress("reading what GPUs draw before the load")
	d.sampler.Sweep(ctx, d.values.Nodes)
	d.mark(snapshot.MarkLoad)
	d.reading = true
	err := d.yield(ctx)
	if err == nil {
		err = d.createJob(ctx, render.LoadJob(d.values))
	}
	if err != nil {
		return d.refused(ctx, snapshot.HopLoad, err)
	}
	if passed, err := d.hops(ctx, snapshot.HopLoad, snapshot.HopExporter); !passed || err != nil {
		return false, err
	}
	d.reading = false
	d.sampler.Load(nil)
	return d.hops(ctx, snapshot.HopPrometheus, snapshot.HopMetricsAPI, snapshot.HopHPA, snapshot.HopPods, snapshot.HopUnschedulable,
		snapshot.HopNodeClaim, snapshot.HopRegistered, snapshot.HopReady, snapshot.HopBound)
}

// down takes the load off and follows what goes.
func (d *drive) down(ctx context.Context) (bool, error) {
	d.mark(snapshot.MarkStop)
	err := d.deleteJob(ctx, render.Load)
	if err == nil {
		err = d.takeBack(ctx)
	}
	if err != nil {
		return d.refused(ctx, snapshot.HopMetricFalls, err)
	}
	return d.hops(ctx, snapshot.HopMetricFalls, snapshot.HopHPADown, snapshot.HopPodsGone, snapshot.HopNodesGone, snapshot.HopClaimsGone, snapshot.HopBystanders)
}

// gang overflows the free nodes with a gang, then with one that lacks a node.
func (d *drive) gang(ctx context.Context) (bool, error) {
	if d.setup.Gang == 0 {
		return d.hops(ctx, snapshot.HopGangBound, snapshot.HopGangNone)
	}
	if d.unscheduled != nil {
		return d.refused(ctx, snapshot.HopGangBound, fmt.Errorf("no scheduler for the gang (site autoscale.gang: 1 omits the gang): %w", d.unscheduled))
	}
	d.mark(snapshot.MarkGang)
	if err := d.createGang(ctx, render.Gang(d.values, d.scheduler)); err != nil {
		return d.refused(ctx, snapshot.HopGangBound, err)
	}
	if passed, err := d.hop(ctx, snapshot.HopGangBound); !passed || err != nil {
		return false, err
	}
	d.values.ShortGPUs = (d.values.Gang - 1) * d.gangNodeGPUs()
	if err := d.deleteGang(ctx); err != nil {
		return d.refused(ctx, snapshot.HopGangNone, err)
	}
	d.mark(snapshot.MarkGangZero)
	if err := d.create(ctx, render.ShortPool(d.values)); err != nil {
		return d.refused(ctx, snapshot.HopGangNone, err)
	}
	if err := d.awaitShortPool(ctx); err != nil {
		return d.refused(ctx, snapshot.HopGangNone, err)
	}
	if err := d.createGang(ctx, render.ShortGang(d.values, d.scheduler)); err != nil {
		return d.refused(ctx, snapshot.HopGangNone, err)
	}
	return d.hop(ctx, snapshot.HopGangNone)
}

// awaitShortPool waits until Karpenter reports the pool as ready, for as long as hop nodepool
// does. Karpenter reports why it refuses a pod once in five minutes: a gang that it evaluates before
// the pool gets another reason than the limit.
func (d *drive) awaitShortPool(ctx context.Context) error {
	within := d.setup.Deadlines[snapshot.HopPool].Duration
	d.told = time.Time{}
	var waiting polled
	waiting.poll(d.now())
	for {
		unready := judge.UnreadyPool(d.state(), d.values.Short)
		if unready == nil {
			return nil
		}
		waited := waiting.poll(d.now())
		if waited >= within {
			return errors.New(check.Summary(unready))
		}
		d.waiting(snapshot.HopGangNone, judge.Result{Judgement: check.Judgement{Reason: check.Summary(unready)}}, waited, within)
		if err := d.wait(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// gangNodeGPUs is how many GPUs a node that came for the gang has, at least what
// a pod of it needs.
func (d *drive) gangNodeGPUs() int {
	st := d.state()
	most := d.values.GPUs
	for _, p := range st.Pods {
		for _, n := range st.Nodes {
			if p.Role == snapshot.RoleGang && p.Node == n.Name {
				most = max(most, n.GPUs)
			}
		}
	}
	return most
}
