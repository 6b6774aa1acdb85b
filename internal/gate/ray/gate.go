package ray

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	// Cluster connects to the cluster; it may wait until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Killed are killed runs, whose Ray jobs are ended.
	Killed []string
	// Clock defaults to the real clock, Wait to a timer.
	Clock clock.PassiveClock
	Wait  func(ctx context.Context, d time.Duration) error
	// HTTP defaults to a client for forwarded ports.
	HTTP *http.Client
}

const (
	// interval between two reads of a state that changes by itself.
	interval = time.Second
	// removeWithin limits the removal of what the gate created.
	removeWithin = 2 * time.Minute
)

// Gate is gate 4 of spine ray.
type Gate struct {
	site     *site.Site
	hardware *profile.Profile
	deps     Deps
	nodes    []string
	gpus     int
	// deadline limits a decision of Ray or KubeRay, settle is how long a decision must stand.
	deadline, settle time.Duration
}

// New returns the gate for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{
		site: s, hardware: p, deps: deps, nodes: s.NodeNames(), gpus: int(p.Node.GPUs.Value),
		deadline: p.GPUStack.GangDeadline.Duration(), settle: p.GPUStack.GangSettle.Duration(),
	}
	g.deps.Clock = cmp.Or[clock.PassiveClock](g.deps.Clock, clock.RealClock{})
	if g.deps.HTTP == nil {
		g.deps.HTTP = probe.NewHTTPClient()
	}
	if g.deps.Wait == nil {
		g.deps.Wait = func(ctx context.Context, d time.Duration) error {
			if poll.Sleep(ctx, d) != nil {
				return ctx.Err()
			}
			return nil
		}
	}
	return g
}

// Name implements check.Check: the gate of the layer.
func (g *Gate) Name() string { return gpustack.Name }

// Excluding implements plan.Excluding. A worker on a node that is left out is a failure: jobs would use it.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.hardware, g.deps)
}

// Claims is the number of GPUs that the placement group reserves.
func (g *Gate) Claims() int { return g.gpus * len(g.nodes) }

func (g *Gate) ref() string { return g.site.Ray.Namespace + "/" + g.site.Ray.Cluster }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	n := len(g.nodes)
	return []string{
		fmt.Sprintf("create a suspended RayCluster, which has no pods, in %s, wait until KubeRay has reconciled it, and delete it", g.site.Ray.Namespace),
		fmt.Sprintf("read RayCluster %s and its pods", g.ref()),
		"read the version, nodes and usage of Ray from the head, through a forwarded port; stop the Ray jobs that killed runs left",
		fmt.Sprintf("submit a Ray job that reserves a placement group of %d bundles with %d GPUs each (STRICT_SPREAD), "+
			"check that it is placed as a whole, count the GPUs with nvidia-smi -L in a task on each bundle, and stop the job", n, g.gpus),
		fmt.Sprintf("the same with %d bundles, and check that no bundle is placed", n+1),
		"read the pods and the nodes of Ray again: none may have restarted",
	}
}

func (g *Gate) begin(rec check.Recorder, kind, target, command string) check.Attempt {
	return check.Observer{Recorder: rec, Clock: g.deps.Clock}.Begin(kind, target, command)
}
