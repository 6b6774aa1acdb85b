package preflight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/probe/toolpod"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Options of a preflight.
type Options struct {
	Site    *site.Site
	Profile *profile.Profile
	// Gates are the gates and extras that the run would walk.
	Gates []string
	// Namespace is the existing namespace of the run; empty: the run creates its own.
	Namespace string
	// Page permits the run to notify a receiver that pages people.
	Page  bool
	Hosts Hosts
	// Cluster returns the cluster once it is up; Monitored waits until Prometheus and Alertmanager
	// are up, and may be nil.
	Cluster   func(ctx context.Context) (*kube.Cluster, error)
	Monitored func(ctx context.Context) error
	// Progress is called as an area begins and ends; may be nil.
	Progress func(area string, done bool)
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// The areas of a preflight, in the order of their lines.
const (
	areaFacility   = "facility"
	areaHosts      = "hosts"
	areaCluster    = "cluster"
	areaMonitoring = "monitoring"
)

// Areas are the names of the areas.
func Areas() []string { return []string{areaFacility, areaHosts, areaCluster, areaMonitoring} }

// areaWithin limits an area, and one host. Requests and logins have their own, shorter limits. A target that an
// area has no time for is unobserved.
const areaWithin = 3 * time.Minute

// targetWithin is the time that an area has for each host or controller more: four times what they take, 6 to 8 s for a host
// with 8 GPUs, and up to 15 s for a BMC with 70 chassis.
const targetWithin = 30 * time.Second

// controllersAtOnce is the number of controllers that are asked concurrently.
const controllersAtOnce = 16

// within is the limit of an area.
func (o Options) within(area string) time.Duration {
	targets, atOnce := 0, 1
	switch area {
	case areaHosts:
		targets, atOnce = len(o.Site.Inventory.Nodes), max(1, o.Site.Reach.SSH.Concurrency)
	case areaFacility:
		targets, atOnce = len(o.Site.Facility.Redfish), controllersAtOnce
	}
	rounds := (targets + atOnce - 1) / atOnce // an area with a target ends after it
	return areaWithin + time.Duration(rounds)*targetWithin
}

// Run checks everything that the gates need. The error is for invalid input, or for the end of
// ctx.
func Run(ctx context.Context, o Options) (Report, error) {
	o.Clock = cmp.Or[clock.PassiveClock](o.Clock, clock.RealClock{})
	began := o.Clock.Now()
	required, err := gate.RequiredBy(o.Site, o.Profile, o.Gates)
	if err != nil {
		return Report{}, err
	}
	areas := map[string]func(context.Context) ([]Line, error){
		areaFacility: o.facility,
		areaHosts:    func(ctx context.Context) ([]Line, error) { return o.hosts(ctx, required), nil }, //nolint:unparam // one type for all areas
		areaCluster:  func(ctx context.Context) ([]Line, error) { return o.inCluster(ctx, required) },
		areaMonitoring: func(ctx context.Context) ([]Line, error) { //nolint:unparam // one type for all areas
			return o.monitoring(ctx), nil
		},
	}
	found := make([][]Line, len(Areas()))
	var work errgroup.Group
	for i, name := range Areas() {
		work.Go(func() error {
			o.progress(name, false)
			defer o.progress(name, true)
			ctx, cancel := context.WithTimeout(ctx, o.within(name))
			defer cancel()
			var err error
			found[i], err = areas[name](ctx)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return Report{}, err
	}
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("preflight: %w", err)
	}
	r := Report{Site: o.Site.Name, Profile: o.Profile.Name, Gates: o.Gates, Lines: slices.Concat(found...)}
	r.Result, r.Duration = overall(r.Lines), o.Clock.Since(began).Seconds()
	return r, nil
}

func (o Options) progress(area string, done bool) {
	if o.Progress != nil {
		o.Progress(area, done)
	}
}

// needs reports whether one of these gates is selected.
func (o Options) needs(gates ...string) bool {
	return slices.ContainsFunc(gates, func(name string) bool { return slices.Contains(o.Gates, name) })
}

func (o Options) facility(ctx context.Context) ([]Line, error) {
	lines := judgeFiles(observeFiles(o.Site, o.Gates))
	if !o.needs(facility.Name) {
		return lines, nil
	}
	f := o.Site.Facility
	return append(lines, judgeFacility(observeControllers(ctx, f.Redfish, redfish.Read), f.SignOff, o.Clock.Now())...), nil
}

func (o Options) hosts(ctx context.Context, required gate.Required) []Line {
	var skew time.Duration
	if o.needs(node.Name) {
		skew = node.New(o.Site, o.Profile, node.Deps{}).MaxClockSkew()
	}
	hosts := toolpod.New(o.Site, o.Hosts, o.Cluster)
	return judgeHosts(observeHosts(ctx, hosts, required.Commands, o.Site.Reach.SSH.Concurrency), skew)
}

// inCluster checks the cluster if a gate creates pods.
func (o Options) inCluster(ctx context.Context, required gate.Required) ([]Line, error) {
	if len(required.Workloads)+len(required.Images) == 0 {
		return nil, nil
	}
	c, err := o.Cluster(ctx)
	if err != nil {
		lines, _ := judgeAPI("cluster", "", err)
		return lines, nil
	}
	return o.cluster(ctx, c, required)
}

func (o Options) monitoring(ctx context.Context) []Line {
	if !o.needs(telemetry.Name, autoscale.Name) {
		return nil
	}
	var c *kube.Cluster
	if o.Site.Reach.Prometheus.Service != "" || o.Site.Reach.Alertmanager.Service != "" {
		var err error
		if c, err = o.Cluster(ctx); err != nil {
			return []Line{unobserved("Prometheus", "cluster", "make the API server reachable first", "%v", err)}
		}
	}
	if o.Monitored != nil {
		if err := o.Monitored(ctx); err != nil {
			return []Line{stop("Prometheus", "cluster", remedyPrometheus, "%v", err)}
		}
	}
	g := telemetry.New(o.Site, o.Profile, telemetry.Deps{Page: o.Page})
	var series seriesFacts
	var work sync.WaitGroup
	work.Go(func() { series = observeSeries(ctx, c, o.Site.Reach.Prometheus, o.Site.Telemetry.Matchers, g) })
	alerts := observeAlerts(ctx, c, o.Site.Reach, g)
	work.Wait()
	return append(judgeSeries(series, o.Site.Telemetry), judgeAlerts(alerts, o.Site.Telemetry.Receiver)...)
}
