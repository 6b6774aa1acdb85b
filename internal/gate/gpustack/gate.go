package gpustack

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the gate's.
const Name = "gpustack"

// Deps is what the gate needs to observe; judging needs none of it.
type Deps struct {
	// Cluster gives the cluster, which may take until it is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Gate is gate 4.
type Gate struct {
	deps      Deps
	nodes     []string
	stack     site.GPUStack
	network   string
	wantGPUs  int
	wantPorts int
	gpuSource string
	image     string
	deadline  time.Duration
	settle    time.Duration
	// start bounds the image pull and start of the probe's pods.
	start time.Duration
}

var _ check.Check = (*Gate)(nil)

// New makes the gate for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{
		deps: deps, stack: s.GPUStack, network: s.Fabric.NetworkResource, wantPorts: s.Fabric.NetworkResourceCount,
		wantGPUs: int(p.Node.GPUs.Value), gpuSource: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		// The probe pods only sleep: any image with a shell will do, and this one
		// is needed on every node by the next gate.
		image:    s.Telemetry.LoadImage,
		deadline: seconds(p.GPUStack.GangDeadline), settle: seconds(p.GPUStack.GangSettle),
		start: seconds(p.Telemetry.RiseWithin), // the same image, to be pulled and started there too
	}
	for _, n := range s.Inventory.Nodes {
		g.nodes = append(g.nodes, n.Name)
	}
	if g.deps.Clock == nil {
		g.deps.Clock = clock.RealClock{}
	}
	return g
}

func seconds(f profile.Figure) time.Duration {
	return time.Duration(f.Value * float64(time.Second))
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Claims is how many GPUs the gate holds while it observes: the gang that fits
// takes all that are free.
func (g *Gate) Claims() int { return g.wantGPUs * len(g.nodes) }

// Describe says what the gate would do.
func (g *Gate) Describe() []string {
	return []string{
		fmt.Sprintf("read ClusterPolicy %s, the nodes, %d operand DaemonSets in %s", g.stack.ClusterPolicy, len(g.stack.Operands), g.stack.Namespace),
		fmt.Sprintf("detect the gang scheduler (%s)", g.stack.GangScheduler),
		"start a gang one pod larger than what is free, and see that nothing of it is placed",
		"start a gang that fits, and see that all of it is placed and that each pod resolves " + apiServer,
	}
}
