package autoscale

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/track"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// connect creates the Prometheus client; an error is reported as a problem of each value
// that it would read.
func (d *drive) connect() {
	p, err := prom.ConnectPrometheus(d.chain.site.Reach.Prometheus, d.chain.site.Telemetry.Matchers, d.cluster)
	if err != nil {
		d.unreachable = err
		return
	}
	d.promClient = p.Client
	d.prometheus = &p
}

// watch begins to watch and to read.
func (d *drive) watch(ctx context.Context) error {
	a := d.chain.site.Autoscale
	karpenter := d.setup.Pool.Autoscaler == site.Karpenter
	o := track.Options{
		Cluster: d.cluster, Run: d.setup.Run, Namespace: d.setup.Namespace, Karpenter: karpenter,
		API: metric.Group(d.setup.Metric.API), Queues: d.setup.Queue != "", Programs: d.programs(), Clock: d.clock,
	}
	if karpenter {
		o.Pools = slices.DeleteFunc([]string{d.setup.Pool.Name, d.values.Zero, d.values.Short}, func(s string) bool { return s == "" })
	} else if !d.setup.Pool.Stay {
		o.Group, o.GroupName = a.NodeGroup, d.setup.Pool.Name
	}
	d.tracker = track.New(o)
	d.rec.Progress("watching nodes, claims, pods and events")
	if err := d.tracker.Start(ctx); err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	d.setup.Before, d.setup.BeforePools = d.tracker.Before()
	scrape, window := d.setup.Setting(snapshot.SettingScrape).Value.Duration, d.setup.Setting(snapshot.SettingWindow).Value.Duration
	d.sampler = metric.New(metric.Config{
		Cluster: d.cluster, Prometheus: d.prometheus, Unreachable: d.unreachable, Metric: d.setup.Metric, Namespace: d.setup.Namespace,
		GPUs: d.setup.GPUs, Stack: d.chain.site.GPUStack.Namespace, Scrape: scrape, Window: window,
		Fresh: time.Duration(d.chain.profile.Telemetry.Freshness.Value*float64(scrape)) + time.Second,
		Every: metric.Every(scrape, d.setup.Window.Duration), Clock: d.clock,
	})
	d.sampler.Start(ctx)
	return nil
}

// programs are the Deployments that the chain needs.
func (d *drive) programs() []track.Program {
	a := d.chain.site.Autoscale
	var out []track.Program
	add := func(role, ref string) {
		if namespace, name, ok := strings.Cut(ref, "/"); ok {
			out = append(out, track.Program{Role: role, Namespace: namespace, Name: name})
		}
	}
	add("adapter", a.Adapter)
	if a.Controller != site.Managed && !d.setup.Pool.Stay {
		add("autoscaler", a.Controller)
	}
	if d.setup.Scheduler == kaiScheduler {
		add("scheduler", kaiDeployment)
	}
	return out
}

// kaiDeployment is where KAI's chart puts its scheduler.
const kaiDeployment = "kai-scheduler/kai-scheduler-default"
