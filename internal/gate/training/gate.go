package training

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
const Name = "training"

// jobName of its workload.
const jobName = "training"

// Deps are the dependencies of Observe.
type Deps = gangjob.Deps

// Gate is gate 7.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    Deps
	// run runs the job; gangjob.Run in production.
	run func(context.Context, *workload.Launcher, workload.Spec) (gangjob.Outcome, []gangjob.Log, error)
	// launcher makes what starts jobs.
	launcher func(context.Context) (*workload.Launcher, error)
	// batch is set for a job of Slurm.
	batch *Sbatch
}

// New makes the gate; deps may be zero when it only judges.
func New(s *site.Site, p *profile.Profile, deps Deps) *Gate {
	return &Gate{
		site: s, profile: p, deps: deps,
		run: func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
			return gangjob.Run(ctx, l, spec, s.Workloads.Training.Timeout.D(), gangjob.All)
		},
		launcher: func(ctx context.Context) (*workload.Launcher, error) { return deps.Launcher(ctx, s) },
	}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Claims is the number of GPUs that the gate claims while it observes.
func (g *Gate) Claims() int { return g.pods() * g.gpus() }

// Describe lists the actions of Observe.
func (g *Gate) Describe() []string {
	t := g.site.Workloads.Training
	test := ""
	if c := t.Checkpoint; c != nil {
		test = fmt.Sprintf("write a file of %d GiB a pod in %s, read it back and delete it; ", c.SizeGiB, c.Directory)
	}
	return []string{fmt.Sprintf("start a gang of %d pods with %d GPUs each; measure each GPU alone for 15 s; %sthen train %s with %s for %d steps; read every rank's log", g.pods(), g.gpus(), test, t.Model, t.Framework, t.Steps)}
}

func (g *Gate) gpus() int { return int(g.profile.Node.GPUs.Value) }

// pods is one per node: the site's number, or all nodes.
func (g *Gate) pods() int {
	if n := g.site.Workloads.Training.Nodes; n > 0 {
		return n
	}
	return len(g.site.Inventory.Nodes)
}

func (g *Gate) ranks() int { return g.pods() * g.gpus() }

// minMFU is the site's minimum, or else the profile's.
func (g *Gate) minMFU() (limit float64, source string) {
	if m := g.site.Workloads.Training.MinMFU; m > 0 {
		return m, "site workloads.training.minMFU"
	}
	return g.profile.Training.MinMFU.Value, "profile training.minMFU: " + g.profile.Training.MinMFU.Source
}
