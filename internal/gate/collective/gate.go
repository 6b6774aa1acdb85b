package collective

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Name of the gate.
const Name = "collective"

// Deps are the dependencies of Observe.
type Deps = gangjob.Deps

// Gate is gate 6.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
	// run runs a job; gangjob.Run in production.
	run func(context.Context, *workload.Launcher, workload.Spec) (gangjob.Outcome, []gangjob.Log, error)
	// srun runs jobs in place of run, without pods; nil on Kubernetes.
	srun *Srun
	// launcher returns the launcher of jobs.
	launcher func(context.Context) (*workload.Launcher, error)
}

// New returns the gate; deps may be zero for a gate that only judges.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	g := &Gate{site: s, profile: p, deps: deps}
	g.run = func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		return gangjob.Run(ctx, l, spec, s.Workloads.Collective.Timeout.D(), gangjob.First)
	}
	g.launcher = func(ctx context.Context) (*workload.Launcher, error) { return deps.Launcher(ctx, s) }
	return g
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Claims is the number of GPUs that the gate claims while it observes: all of them.
func (g *Gate) Claims() int { return len(g.site.Inventory.Nodes) * g.gpus() }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	return append([]string{
		"start a gang of one pod per GPU node and run: " + g.command(g.all(tests[0])),
		"read the transports in NCCL's log (NCCL_DEBUG=INFO)",
		g.describeLocalising(),
	}, g.describeRest()...)
}

func (g *Gate) describeLocalising() string {
	if g.byDomain() {
		return "if a run over one NVLink domain fails without naming a node: repeat it on pairs and groups of its nodes, or on single nodes"
	}
	return "if it fails without naming a node: repeat it on pairs and groups of nodes, or on single nodes"
}

// describeRest lists the other collectives, the rails and the NVLink domains of the site.
func (g *Gate) describeRest() []string {
	var out []string
	for _, t := range g.suite()[1:] {
		out = append(out, "if it passes, "+t.name+": "+g.command(g.all(t)))
	}
	if n := len(g.rails()); n > 0 {
		out = append(out, fmt.Sprintf("repeat the all-reduce over each of %d rails alone (NCCL_IB_HCA)", n))
	}
	if g.byDomain() {
		out = append(out, "repeat the collectives over each NVLink domain alone, as NCCL reports it for the GPUs (ClusterUUID and CliqueId), all domains at once")
	}
	return out
}

func (g *Gate) gpus() int        { return int(g.profile.Node.GPUs.Value) }
func (g *Gate) repetitions() int { return max(1, int(g.profile.Collective.Repetitions.Value)) }

func (g *Gate) nodes() []string {
	names := make([]string, 0, len(g.site.Inventory.Nodes))
	for _, n := range g.site.Inventory.Nodes {
		names = append(names, n.Name)
	}
	return names
}
