package node

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate.
const Name = "node"

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Deps are the dependencies of Observe. They are zero for a gate that only judges.
type Deps struct {
	Hosts Hosts
	// Cluster connects to the cluster, to list the pods that hold GPUs; nil: only processes are known.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Gate is gate 3.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
	// lowLoad: without the diagnostic; see LowLoad.
	lowLoad bool
	// accepted are the versions of accepted nodes; see Like.
	accepted Components
}

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	deps.Clock = cmp.Or[clock.PassiveClock](deps.Clock, clock.RealClock{})
	return &Gate{site: s, profile: p, deps: deps}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string { return g.site.LoweredNode() }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps).Like(g.accepted)
}

// Like makes the gate require the VBIOS and the firmware of accepted nodes, instead of comparing the
// hosts with each other; empty: the hosts are compared. The driver is that of the inventory.
func (g *Gate) Like(accepted Components) *Gate {
	g.accepted = accepted
	return g
}

// Nodes implements plan.Localising.
func (g *Gate) Nodes() []string { return g.site.NodeNames() }

// Describe lists the commands of Observe.
func (g *Gate) Describe() []string {
	var out []string
	if g.site.OnSlurm() {
		out = append(out, fmt.Sprintf("on %s: %s; nothing else if one of them runs jobs", g.site.Slurm.Host(), ssh.Quote(g.jobsCommand())))
	}
	if g.looksAtPods() {
		out = append(out, "list the pods that hold GPUs of the nodes; no diagnostic on a node with such pods or with processes on its GPUs")
	}
	out = append(out, fmt.Sprintf("on %d hosts, %d at a time:", len(g.site.Inventory.Nodes), g.concurrency()))
	for _, c := range g.commands() {
		out = append(out, ssh.Quote(g.argv(c)))
		if c.kind == kindDiag {
			out = append(out, "repeatedly during the diagnostic: "+ssh.Quote(nvidia.ClockQuery()))
		}
	}
	return out
}

// concurrency is the number of hosts observed concurrently.
func (g *Gate) concurrency() int { return max(1, g.site.Reach.SSH.Concurrency) }

// gpus is the number of GPUs per node.
func (g *Gate) gpus() int { return int(g.profile.Node.GPUs.Value) }

// source is the source of a limit of the profile.
func (g *Gate) source(key string, f profile.Figure) string {
	return fmt.Sprintf("profile %s %s: %s", g.profile.Name, key, f.Source)
}
