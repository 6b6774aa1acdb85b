package settings

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// Where lists the sources.
type Where struct {
	Cluster *kube.Cluster
	// Prometheus is nil if unreachable.
	Prometheus *prom.Prometheus
	Site       *site.Site
	// Metric names the metric, given the scrape job of the exporters (see Found); its name and
	// External select the adapter's rule.
	Metric   func(ctx context.Context, exporters *prom.Job) string
	External bool
	// Stabilization and Consolidate of the run; Consolidate is 0 where it is read from the
	// NodePool Pool.
	Stabilization, Consolidate time.Duration
	Pool                       string
}

// Found holds the settings found.
type Found struct {
	Settings []snapshot.Setting
	// Rules of the adapter; nil for the reason Why. Rule is that of Metric; zero without one.
	Rules  []Rule
	Why    string
	Metric string
	Rule   Rule
	// Exporters is the scrape job of the exporters; nil if Prometheus is unreachable.
	Exporters *prom.Job
}

// each bounds one read; after that the setting is assumed.
const each = 10 * time.Second

type finder struct {
	w     Where
	found Found
}

// Find reads all settings. Each source has its own timeout.
func Find(ctx context.Context, w Where) Found {
	f := &finder{w: w}
	a := w.Site.Autoscale
	f.look(ctx, f.exporter)
	f.look(ctx, f.scrape)
	f.look(ctx, func(ctx context.Context) { f.found.Metric = w.Metric(ctx, f.found.Exporters) })
	f.look(ctx, f.adapter)
	f.look(ctx, f.controllerManager)
	f.own(snapshot.SettingStabilization, w.Stabilization, "HorizontalPodAutoscaler of this run")
	if a.Autoscaler == site.Karpenter {
		f.look(ctx, f.karpenter)
		f.look(ctx, f.pool)
	} else {
		f.look(ctx, f.clusterAutoscaler)
	}
	f.override(a.Settings)
	if a.Autoscaler == site.Karpenter {
		f.nomination()
	}
	f.sort()
	return f.found
}

func (f *finder) look(ctx context.Context, at func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	at(ctx)
}

func (f *finder) add(name string, value time.Duration, source string, assumed bool) {
	f.found.Settings = append(f.found.Settings, snapshot.Setting{Name: name, Value: metav1.Duration{Duration: value}, Source: source, Assumed: assumed})
}

func (f *finder) own(name string, value time.Duration, source string) {
	f.add(name, value, source, false)
}

// override applies the settings of the site file.
func (f *finder) override(settings map[string]site.Duration) {
	for name, d := range settings {
		s := snapshot.Setting{Name: name, Value: metav1.Duration{Duration: d.D()}, Source: "site autoscale.settings." + name}
		if i := slices.IndexFunc(f.found.Settings, func(x snapshot.Setting) bool { return x.Name == name }); i >= 0 {
			f.found.Settings[i] = s
		} else {
			f.found.Settings = append(f.found.Settings, s)
		}
	}
}

// sort brings the settings into the order of the chain.
func (f *finder) sort() {
	order := site.AutoscaleSettings()
	slices.SortFunc(f.found.Settings, func(a, b snapshot.Setting) int {
		return slices.Index(order, a.Name) - slices.Index(order, b.Name)
	})
}

// options reads a program's options from its containers.
func (f *finder) options(options []option, containers []corev1.Container, source string) {
	for _, o := range options {
		value, by, ok := time.Duration(0), "", false
		for _, c := range containers {
			if value, by, ok = find(o, c); ok {
				break
			}
		}
		switch {
		case ok:
			f.add(o.setting, value, source+" "+by, false)
		case len(containers) > 0:
			f.add(o.setting, o.otherwise, "upstream default; "+source+" does not set it", true)
		default:
			f.add(o.setting, o.otherwise, "upstream default; "+source+" could not be read", true)
		}
	}
}

// deployment reads a Deployment by namespace/name; nil on error.
func (f *finder) deployment(ctx context.Context, ref string) (*appsv1.Deployment, string) {
	source := "Deployment " + ref
	namespace, name, ok := strings.Cut(ref, "/")
	if !ok {
		return nil, source
	}
	d, err := f.w.Cluster.Client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, source
	}
	return d, source
}

func containersOf(d *appsv1.Deployment) []corev1.Container {
	if d == nil {
		return nil
	}
	return d.Spec.Template.Spec.Containers
}
