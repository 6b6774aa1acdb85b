package autoscale

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/check"
)

// before sees what the chain goes through, with NodePools of the run's own made.
func (d *drive) before(ctx context.Context) (bool, error) {
	if err := d.values.Validate(); err != nil {
		return false, fmt.Errorf("plan the chain: %w", err)
	}
	if passed, err := d.hop(ctx, seen.HopAdapter); !passed || err != nil {
		return false, err
	}
	for _, pool := range render.Pools(d.values) {
		if err := d.create(ctx, pool); err != nil {
			return d.refused(ctx, seen.HopPool, err)
		}
	}
	return d.hops(ctx, seen.HopPool, seen.HopSeries)
}

// control places the workload and sees that nothing scales without load.
func (d *drive) control(ctx context.Context) (bool, error) {
	if err := d.place(ctx); err != nil {
		return d.refused(ctx, seen.HopPlaced, err)
	}
	if passed, err := d.hop(ctx, seen.HopPlaced); !passed || err != nil {
		return false, err
	}
	if err := d.keepFirst(ctx); err != nil {
		return d.refused(ctx, seen.HopPlaced, err)
	}
	if passed, err := d.hop(ctx, seen.HopServed); !passed || err != nil {
		return false, err
	}
	if d.values.Zero != "" {
		if _, err := d.cluster.Client.CoreV1().Pods(d.setup.Namespace).Create(ctx, render.Zero(d.values), metav1.CreateOptions{}); err != nil {
			return d.refused(ctx, seen.HopLimitZero, fmt.Errorf("create pod %s: %w", render.ZeroPod, err))
		}
	}
	if passed, err := d.window(ctx); !passed || err != nil {
		return false, err
	}
	if passed, err := d.hop(ctx, seen.HopLimitZero); !passed || err != nil {
		return false, err
	}
	return true, d.removeZero(ctx)
}

// window watches for as long as nothing may scale. What scales ends it.
func (d *drive) window(ctx context.Context) (bool, error) {
	// The HPA's first word and the first value are of before the window.
	d.mark(seen.MarkWindow)
	end := d.now().Add(d.setup.Window)
	d.told = time.Time{}
	for d.now().Before(end) {
		st := d.state()
		r := judge.Hop(seen.HopFlat, d.setup, st)
		if r.Verdict == check.Failed {
			return false, d.record(seen.HopFlat, d.marks[seen.MarkWindow], st, r)
		}
		left := end.Sub(d.now())
		d.waiting(seen.HopFlat, judge.Result{Judgement: check.Judgement{Reason: "nothing may scale without load"}, Object: r.Object}, d.setup.Window-left, d.setup.Window)
		if err := d.wait(ctx, min(lookEvery, max(left, time.Millisecond))); err != nil {
			return false, err
		}
	}
	d.mark(seen.MarkWindowTo)
	return d.hop(ctx, seen.HopFlat)
}

// up puts the load on and follows what comes of it.
func (d *drive) up(ctx context.Context) (bool, error) {
	d.rec.Progress("reading what GPUs draw before the load")
	d.sampler.Sweep(ctx, d.values.Nodes)
	d.mark(seen.MarkLoad)
	d.reading = true
	err := d.yield(ctx)
	if err == nil {
		err = d.createJob(ctx, render.LoadJob(d.values))
	}
	if err != nil {
		return d.refused(ctx, seen.HopLoad, err)
	}
	if passed, err := d.hops(ctx, seen.HopLoad, seen.HopExporter); !passed || err != nil {
		return false, err
	}
	d.reading = false
	d.sampler.Load(nil)
	return d.hops(ctx, seen.HopPrometheus, seen.HopMetricsAPI, seen.HopHPA, seen.HopPods, seen.HopUnschedulable,
		seen.HopNodeClaim, seen.HopRegistered, seen.HopReady, seen.HopBound)
}

// down takes the load off and follows what goes.
func (d *drive) down(ctx context.Context) (bool, error) {
	d.mark(seen.MarkStop)
	err := d.deleteJob(ctx, render.Load)
	if err == nil {
		err = d.takeBack(ctx)
	}
	if err != nil {
		return d.refused(ctx, seen.HopMetricFalls, err)
	}
	return d.hops(ctx, seen.HopMetricFalls, seen.HopHPADown, seen.HopPodsGone, seen.HopNodesGone, seen.HopClaimsGone, seen.HopBystanders)
}

// gang overflows the free nodes with a gang, then with one that lacks a node.
func (d *drive) gang(ctx context.Context) (bool, error) {
	if d.setup.Gang == 0 {
		return d.hops(ctx, seen.HopGangBound, seen.HopGangNone)
	}
	d.mark(seen.MarkGang)
	if err := d.createGang(ctx, render.Gang(d.values, d.scheduler)); err != nil {
		return d.refused(ctx, seen.HopGangBound, err)
	}
	if passed, err := d.hop(ctx, seen.HopGangBound); !passed || err != nil {
		return false, err
	}
	d.values.ShortGPUs = (d.values.Gang - 1) * d.gangNodeGPUs()
	if err := d.deleteGang(ctx); err != nil {
		return d.refused(ctx, seen.HopGangNone, err)
	}
	d.mark(seen.MarkGangZero)
	if err := d.create(ctx, render.ShortPool(d.values)); err != nil {
		return d.refused(ctx, seen.HopGangNone, err)
	}
	if err := d.createGang(ctx, render.ShortGang(d.values, d.scheduler)); err != nil {
		return d.refused(ctx, seen.HopGangNone, err)
	}
	return d.hop(ctx, seen.HopGangNone)
}

// gangNodeGPUs is how many GPUs a node that came for the gang has, at least what
// a pod of it needs.
func (d *drive) gangNodeGPUs() int {
	st := d.state()
	most := d.values.GPUs
	for _, p := range st.Pods {
		for _, n := range st.Nodes {
			if p.Role == seen.RoleGang && p.Node == n.Name {
				most = max(most, n.GPUs)
			}
		}
	}
	return most
}
