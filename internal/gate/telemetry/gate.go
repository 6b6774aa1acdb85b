package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "telemetry"

// metric is dcgm-exporter's utilisation, which every GPU must have.
const metric = "DCGM_FI_DEV_GPU_UTIL"

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	// Cluster connects to the cluster; it may wait until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Page permits a notification of a receiver that pages people.
	Page bool
	// Clock defaults to the real clock.
	Clock clock.Clock
}

// Gate is gate 5.
type Gate struct {
	site      *site.Site
	hardware  *profile.Profile
	deps      Deps
	nodes     []string
	telemetry site.Telemetry
	reach     site.Reach
	gang      site.GPUStack
	gpus      int
	gpuSource string
	profile   profile.Telemetry
	// maxAge is the maximum age of a sample.
	maxAge time.Duration
	// patches are those of the load's pods.
	patches []map[string]any
	// lowered are the demands that the site lowers.
	lowered []string
}

// New returns the gate for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{
		site: s, hardware: p, deps: deps, telemetry: s.Telemetry, reach: s.Reach, gang: s.GPUStack,
		gpus: int(p.Node.GPUs.Value), gpuSource: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		profile: p.Telemetry, maxAge: times(s.Telemetry.ScrapeInterval, p.Telemetry.Freshness),
		patches: s.PodPatches(Name), lowered: s.LoweredTelemetry(),
	}
	for _, n := range s.Inventory.Nodes {
		g.nodes = append(g.nodes, n.Name)
	}
	g.deps.Clock = cmp.Or[clock.Clock](g.deps.Clock, clock.RealClock{})
	return g
}

func times(interval site.Duration, f profile.Figure) time.Duration {
	return time.Duration(float64(interval) * f.Value)
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.hardware, g.deps)
}

// Claims is the number of GPUs that the gate claims while it observes: all of them.
func (g *Gate) Claims() int { return g.gpus * len(g.nodes) }

func (g *Gate) describeAlert() string {
	raise, notified := "create a PrometheusRule whose alert fires at once", "is notified"
	if !g.byRule() {
		raise = "post a synthetic alert to Alertmanager"
	}
	if !g.telemetry.Alert.PagesNobody {
		notified = "is notified (only with --page: it may page people)"
	}
	return fmt.Sprintf("%s and check that receiver %s %s; resolve the alert", raise, g.telemetry.Receiver, notified)
}

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	return []string{
		fmt.Sprintf("query %s and its timestamps, and %d times on new connections; list targets", metric, answersWanted),
		fmt.Sprintf("load a different number of GPUs on each node with dcgmproftester (rounds: %d) and check that as many series of each host follow", len(g.rounds())),
		fmt.Sprintf("load %d GPUs on each of %d nodes with dcgmproftester and check that every series follows", g.gpus, len(g.nodes)),
		g.describeAlert(),
	}
}
