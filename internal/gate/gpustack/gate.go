package gpustack

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "gpustack"

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	// Cluster connects to the cluster; it may wait until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	RunID   string
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Gate is gate 4.
type Gate struct {
	site     *site.Site
	hardware *profile.Profile
	deps     Deps
	nodes    []string
	stack    site.GPUStack
	network  string
	// resources is what the device plugin must offer on a node, gang the one of them that the proof
	// of the gang scheduler uses.
	resources map[string]int
	gang      string
	wantGPUs  int
	wantPorts int
	gpuSource string
	image     string
	patches   []map[string]any
	deadline  time.Duration
	settle    time.Duration
	// start limits the image pull and start of the probe's pods.
	start time.Duration
}

// New returns the gate for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{
		site: s, hardware: p, deps: deps, nodes: s.NodeNames(), stack: s.GPUStack, network: s.Fabric.NetworkResource, wantPorts: s.Fabric.NetworkResourceCount,
		wantGPUs: int(p.Node.GPUs.Value), gpuSource: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		// Any image with a shell works for the probe pods; the next gate needs this one on
		// every node.
		image: s.Telemetry.LoadImage, patches: s.PodPatches(Name),
		deadline: p.GPUStack.GangDeadline.Duration(), settle: p.GPUStack.GangSettle.Duration(),
		start: p.Telemetry.RiseWithin.Duration(), // the same image as in gate telemetry
	}
	g.resources, g.gang = map[string]int{kube.GPUResource: g.wantGPUs}, kube.GPUResource
	if s.GPUStack.DeviceClass != "" {
		g.resources, g.gang = map[string]int{kube.GPUResource: 0}, s.GPUStack.DeviceClass
	} else if m := s.GPUStack.MIG; m != nil {
		g.resources, g.gang = m.Resources(), m.Largest()
		g.gpuSource = "site gpustack.mig"
	}
	g.deps.Clock = cmp.Or[clock.PassiveClock](g.deps.Clock, clock.RealClock{})
	return g
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.hardware, g.deps)
}

// Claims is the number of GPUs that the gate claims while it observes: the gang that fits uses
// all free GPUs.
func (g *Gate) Claims() int { return g.wantGPUs * len(g.nodes) }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	kind, name := g.stack.Policy()
	stack := fmt.Sprintf("read the GPU Operator's Deployment, %s %s, the nodes, %d operand DaemonSets in %s", kind, name, len(g.stack.Operands), g.stack.Namespace)
	switch {
	case g.builtIn():
		stack = "read the nodes, and check that no ClusterPolicy installs a device plugin"
	case g.stack.Provided():
		stack = fmt.Sprintf("read the nodes and the DaemonSets %s in %s, and check that no ClusterPolicy installs a device plugin", strings.Join(g.stack.Operands, ", "), g.stack.Namespace)
	}
	versions := "read the versions of API server and nodes: distribution and version skew"
	if g.site.Spine == site.SpineK3s {
		versions += "; the packaged components of k3s in kube-system"
	}
	return []string{
		stack,
		versions,
		"list the pods of all namespaces that run a device plugin on the nodes",
		fmt.Sprintf("detect the gang scheduler (%s)", g.stack.GangScheduler),
		"start a gang one pod larger than the free GPUs, and check that 0 of its pods are placed",
		"start a gang that fits, and check that all its pods are placed and that each resolves " + apiServer,
	}
}
