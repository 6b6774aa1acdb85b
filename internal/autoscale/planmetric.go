package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/settings"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/prom"
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
	// loadFor bounds the load.
	loadFor = 2 * time.Hour
)

// metricName is what firstlight's rules serve power as.
func metricName(api, form string) string {
	switch {
	case api == metric.External:
		return adapterrules.External
	case form == metric.Exported:
		return "workload_gpu_power_usage"
	default:
		return "gpu_power_usage"
	}
}

// planLoad chooses the nodes whose free GPUs the holder and the load may take,
// and the HPA's target.
func (d *drive) planLoad(ctx context.Context) error {
	a := d.chain.site.Autoscale
	nodes := slices.Sorted(maps.Keys(d.setup.GPUs))
	d.values.DeviceClass = d.chain.site.GPUStack.DeviceClass
	usage, err := inventory.UsageBy(ctx, d.cluster, d.values.DeviceClass, nodes)
	if err != nil {
		return fmt.Errorf("look for free GPUs: %w", err)
	}
	total := 0
	for _, n := range nodes {
		free := usage[n].Free()
		total += free
		if free > 0 {
			d.values.Nodes = append(d.values.Nodes, n)
		}
	}
	if total == 0 { // the pods of the load and the holder will say that there is no room
		d.values.Nodes = nodes
	}
	r := rationOf(total, a, d.setup.Pool.Stay)
	load := r.load
	d.setup.Turns, d.values.GPUs, d.values.Min, d.values.Max = r.turns, r.replica, r.least, r.most
	target := a.Target
	if target == 0 {
		target = targetOf(d.chain.profile.GPU, load, r.least, r.most)
	}
	d.values.LoadGPUs, d.values.Target = load, target
	d.setup.Scale = snapshot.Scale{Target: target, Min: r.least, Max: r.most, GPUs: r.replica, LoadGPUs: load, Why: r.why}
	return nil
}

// planMetric finds the settings, and how the metric is named, chosen and asked for.
func (d *drive) planMetric(ctx context.Context) {
	api := cmp.Or(d.chain.opts.Metric, metric.External)
	m := snapshot.Metric{API: api, Series: series, Unit: seriesUnit, Form: metric.Plain}
	found := settings.Find(ctx, settings.Where{
		Cluster: d.cluster, Prometheus: d.prometheus, Site: d.chain.site, External: api == metric.External,
		Metric: func(ctx context.Context, exporters *prom.Job) string {
			if d.prometheus != nil {
				if form, err := metric.FormOf(ctx, *d.prometheus, series, exporters); err == nil {
					m.Form = form
				}
			}
			return metricName(api, m.Form)
		},
		Stabilization: stabilization, Consolidate: d.values.ConsolidateAfter, Pool: d.setup.Pool.Name,
	})
	m.Name, d.setup.Settings = found.Metric, found.Settings
	d.rules = settings.Text(found.Rules)
	window := d.setup.Setting(snapshot.SettingWindow).Value.Duration
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
	m.Query = metric.Query(found.Rule.Query, series, chosen, groupBy, window)
	d.setup.Metric, d.values.Metric = m, m
	d.setup.Window.Duration = max(d.chain.site.Autoscale.Window.D(), 2*d.setup.Setting(snapshot.SettingHPASync).Value.Duration)
}
