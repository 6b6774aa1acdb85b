package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/autoscale/settings"
	"github.com/firstlight/firstlight/internal/autoscale/track"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// The metric: power, in every GPU's series.
const (
	series     = "DCGM_FI_DEV_POWER_USAGE"
	seriesUnit = "W"
	// loadContainer is the container whose GPUs the value is made of.
	loadContainer = "load"
)

const (
	// stabilization of the HPA's way down: short, since the chain waits for it.
	stabilization = 5 * time.Second
	// consolidateAfter of the run's own NodePool.
	consolidateAfter = 2 * time.Second
	// loadFor bounds the load, should nobody end it.
	loadFor = 2 * time.Hour
)

// metricName is what firstlight's rules serve power as.
func metricName(api, form string) string {
	switch {
	case api == metric.External:
		return "dcgm_gpu_power_usage"
	case form == metric.Exported:
		return "workload_gpu_power_usage"
	default:
		return "gpu_power_usage"
	}
}

// groupName is what a node group is called: its labels' values.
func groupName(labels map[string]string) string {
	values := make([]string, 0, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		values = append(values, labels[k])
	}
	return strings.Join(values, "/")
}

// begin looks at what is there, decides what is to be made of it, and begins to
// watch. Nothing is created.
func (c *Chain) begin(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) (*drive, error) {
	d := &drive{chain: c, rec: rec, cluster: cluster, clock: clock.RealClock{}, marks: map[string]time.Time{}}
	d.setup = seen.Setup{
		Run: c.deps.RunID, Namespace: cmp.Or(c.opts.Namespace, kube.NamespaceOf(c.deps.RunID)), Began: d.now(),
		Scheduler: cmp.Or(c.opts.Scheduler, "default"), Keep: c.opts.Keep, GPUs: map[string]int{},
	}
	if d.setup.Scheduler == kaiScheduler {
		d.setup.Queue = render.QueueName(c.deps.RunID)
	}
	for _, n := range c.site.Inventory.Nodes {
		d.setup.GPUs[n.Name] = int(c.profile.Node.GPUs.Value)
	}
	if err := d.planPool(); err != nil {
		return nil, err
	}
	rec.Progress("looking for settings that cost time")
	d.connect()
	if err := d.planLoad(ctx); err != nil {
		d.stop()
		return nil, err
	}
	d.planMetric(ctx)
	d.planGang(ctx)
	d.deadlines()
	if err := d.watch(ctx); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

const kaiScheduler = "kai"

// planPool decides where nodes come from.
func (d *drive) planPool() error {
	a, o := d.chain.site.Autoscale, d.chain.opts
	p := seen.PoolPlan{Autoscaler: a.Autoscaler, GPULimit: -1}
	v := &d.values
	v.Run, v.Namespace, v.Queue = d.setup.Run, d.setup.Namespace, d.setup.Queue
	taint, tainted, err := site.ParseTaint(a.Taint)
	if err != nil {
		return fmt.Errorf("read site autoscale.taint: %w", err)
	}
	v.Taint, v.Tainted = taint, tainted
	v.NodeClass, v.InstanceTypes, v.WorkerImage, v.LoadImage = a.NodeClass, a.InstanceTypes, a.WorkerImage, d.chain.site.Telemetry.LoadImage
	v.GPUs, v.Min, v.Max, v.NodeGPUs = a.GPUsPerReplica, a.MinReplicas, a.MaxReplicas, int(d.chain.profile.Node.GPUs.Value)
	v.Stabilization, v.LoadFor = stabilization, loadFor
	switch {
	case a.Autoscaler == site.ClusterAutoscaler && o.Pool != "":
		return fmt.Errorf("--pool %s: the site's autoscaler is %s, whose node group is site autoscale.nodeGroup", o.Pool, a.Autoscaler)
	case a.Autoscaler == site.ClusterAutoscaler:
		p.Name, v.Select = groupName(a.NodeGroup), a.NodeGroup
	case o.Pool != "":
		p.Name, v.Select = o.Pool, map[string]string{render.PoolLabel: o.Pool}
	case a.NodeClass == (site.NodeClass{}):
		return fmt.Errorf("site autoscale.nodeClass is missing: a NodePool of the run's own needs it (or name one with --pool)")
	default:
		v.Pool, v.Zero, v.Short = render.PoolNames(d.setup.Run, d.setup.Queue != "")
		v.ConsolidateAfter, v.Gang = consolidateAfter, a.Gang
		p.Name, p.Own, p.Zero, p.InstanceTypes = v.Pool, true, v.Zero, a.InstanceTypes
		p.GPULimit, v.Select = render.PoolLimit(*v), map[string]string{render.PoolLabel: v.Pool}
	}
	d.setup.Pool = p
	return nil
}

// connect makes a client for Prometheus; where that cannot be, it is told as a
// problem of what is read there.
func (d *drive) connect() {
	client, err := prom.Connect(prom.Endpoint(d.chain.site.Reach.Prometheus), d.cluster)
	if err != nil {
		d.unreachable = err
		return
	}
	d.promClient = client
	d.prometheus = &prom.Prometheus{Client: client}
}

// planLoad chooses the nodes whose free GPUs the holder and the load may take,
// and the HPA's target.
func (d *drive) planLoad(ctx context.Context) error {
	a := d.chain.site.Autoscale
	nodes := slices.Sorted(maps.Keys(d.setup.GPUs))
	free, err := d.cluster.FreeGPUs(ctx, nodes)
	if err != nil {
		return fmt.Errorf("look for free GPUs: %w", err)
	}
	total := 0
	for _, n := range nodes {
		total += free[n]
		if free[n] > 0 {
			d.values.Nodes = append(d.values.Nodes, n)
		}
	}
	if total < 2 { // of the load and the holder: their pods will say that there is no room
		d.values.Nodes = nodes
	}
	load := a.LoadGPUs
	if total > 1 {
		load = min(load, total-1)
	}
	target := a.Target
	if target == 0 {
		target = targetOf(d.chain.profile.GPU, load, a.MinReplicas, a.MaxReplicas)
	}
	d.values.LoadGPUs, d.values.Target = load, target
	d.setup.Scale = seen.Scale{Target: target, Min: a.MinReplicas, Max: a.MaxReplicas, GPUs: a.GPUsPerReplica, LoadGPUs: load}
	return nil
}

// planMetric finds the settings, and how the metric is named, chosen and asked for.
func (d *drive) planMetric(ctx context.Context) {
	api := cmp.Or(d.chain.opts.Metric, metric.External)
	m := seen.Metric{API: api, Name: metricName(api, metric.Plain), Series: series, Unit: seriesUnit, Form: metric.Plain}
	where := settings.Where{
		Cluster: d.cluster, Prometheus: d.prometheus, Site: d.chain.site, Metric: m.Name, External: api == metric.External,
		Stabilization: stabilization, Consolidate: d.values.ConsolidateAfter, Pool: d.setup.Pool.Name,
	}
	found := settings.Find(ctx, where)
	if d.prometheus != nil {
		limited, cancel := context.WithTimeout(ctx, askWithin)
		form, err := metric.FormOf(limited, *d.prometheus, series, found.Exporters)
		cancel()
		if err == nil {
			m.Form = form
		}
	}
	if m.Name = metricName(api, m.Form); m.Name != where.Metric {
		where.Metric = m.Name
		found = settings.Find(ctx, where)
	}
	d.setup.Settings = found.Settings
	d.rules = settings.Text(found.Rules)
	window := d.setup.Setting(seen.SettingWindow).Value
	rule, _ := settings.RuleOf(found.Rules, where.External, m.Name)
	namespace := d.setup.Namespace
	chosen := metric.Selector(m.Form, namespace, loadContainer)
	groupBy := ""
	m.Selector = chosen
	if api == metric.Custom {
		// The namespace is the described object's; the adapter adds it.
		m.Selector = metric.Selector(m.Form, "", loadContainer)
		groupBy = "namespace"
		if m.Form == metric.Exported {
			groupBy = "exported_namespace"
		}
	}
	m.Query = metric.Query(rule.Query, series, chosen, groupBy, window)
	d.setup.Metric, d.values.Metric = m, m
	d.setup.Window = max(d.chain.site.Autoscale.Window.D(), 2*d.setup.Setting(seen.SettingHPASync).Value)
}

// askWithin bounds one question that nothing depends on.
const askWithin = 10 * time.Second

// deadlines are generous, and a hop that never happens is told all the same.
func (d *drive) deadlines() {
	const factor = 3
	patience := d.chain.opts.Patience
	if patience == 0 {
		patience = 2 * time.Minute
	}
	d.setup.Deadlines = map[string]time.Duration{}
	for _, p := range seen.Chain() {
		for _, hop := range p.Hops {
			d.setup.Deadlines[hop] = patience + factor*budgetOf(hop, d.setup)
		}
	}
	// What the window did not show will not show afterwards.
	d.setup.Deadlines[seen.HopFlat] = settleWithin
	d.setup.Deadlines[seen.HopBystanders] = settleWithin
	d.setup.Deadlines[seen.HopClean] = cleanWithin
}

const (
	// settleWithin is for what is known already, once the watches have told it.
	settleWithin = 15 * time.Second
	// cleanWithin bounds the removal of everything.
	cleanWithin = 5 * time.Minute
)

// watch begins to watch and to read.
func (d *drive) watch(ctx context.Context) error {
	a := d.chain.site.Autoscale
	karpenter := a.Autoscaler == site.Karpenter
	o := track.Options{
		Cluster: d.cluster, Run: d.setup.Run, Namespace: d.setup.Namespace, Karpenter: karpenter,
		API: metric.Group(d.setup.Metric.API), Queues: d.setup.Queue != "", Programs: d.programs(), Clock: d.clock,
	}
	if karpenter {
		o.Pools = slices.DeleteFunc([]string{d.setup.Pool.Name, d.values.Zero, d.values.Short}, func(s string) bool { return s == "" })
	} else {
		o.Group, o.GroupName = a.NodeGroup, d.setup.Pool.Name
	}
	d.tracker = track.New(o)
	d.rec.Progress("watching nodes, claims, pods and events")
	if err := d.tracker.Start(ctx); err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	d.setup.Before, d.setup.BeforePools = d.tracker.Before()
	scrape, window := d.setup.Setting(seen.SettingScrape).Value, d.setup.Setting(seen.SettingWindow).Value
	d.sampler = metric.New(metric.Config{
		Cluster: d.cluster, Prometheus: d.prometheus, Unreachable: d.unreachable, Metric: d.setup.Metric, Namespace: d.setup.Namespace,
		GPUs: d.setup.GPUs, Stack: d.chain.site.GPUStack.Namespace, Scrape: scrape, Window: window,
		Fresh: time.Duration(d.chain.profile.Telemetry.Freshness.Value*float64(scrape)) + time.Second,
		Every: metric.Every(scrape, d.setup.Window), Clock: d.clock,
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
	if a.Controller != site.Managed {
		add("autoscaler", a.Controller)
	}
	if d.setup.Scheduler == kaiScheduler {
		add("scheduler", kaiDeployment)
	}
	return out
}

// kaiDeployment is where KAI's chart puts its scheduler.
const kaiDeployment = "kai-scheduler/kai-scheduler-default"
