package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Reach is how the gates get at what they look at; zero where they only judge
// or are only described.
type Reach struct {
	Hosts Hosts
	// Cluster may wait for the cluster to come up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Monitored, if set, waits until what watches the cluster is up: Prometheus,
	// Alertmanager. Gates from telemetry on need it.
	Monitored func(ctx context.Context) error
	// Kubeconfig is for preparations that run programs.
	Kubeconfig pregate.Kubeconfig
	// RunID labels everything that is created.
	RunID string
}

// monitored is Cluster for gates that also need what watches the cluster.
func (r Reach) monitored() func(ctx context.Context) (*kube.Cluster, error) {
	if r.Cluster == nil || r.Monitored == nil {
		return r.Cluster
	}
	return func(ctx context.Context) (*kube.Cluster, error) {
		cluster, err := r.Cluster(ctx)
		if err != nil {
			return nil, err
		}
		return cluster, r.Monitored(ctx)
	}
}

// needs of each gate: the one below it; training and inference both need
// collective, not each other.
var needs = map[string][]string{
	fabric.Name:     {facility.Name},
	node.Name:       {fabric.Name},
	gpustack.Name:   {node.Name},
	telemetry.Name:  {gpustack.Name},
	collective.Name: {telemetry.Name},
	training.Name:   {collective.Name},
	inference.Name:  {collective.Name},
	autoscale.Name:  {telemetry.Name},
}

// gate is what every gate offers beside being a Check.
type gate interface {
	check.Check
	Describe() []string
}

// gates makes all eight, in order.
func gates(s *site.Site, p *profile.Profile, r Reach) []gate {
	job := collective.Deps{Cluster: r.monitored(), RunID: r.RunID}
	return []gate{
		facility.New(s, p, facility.Deps{}),
		fabric.New(s, p, fabric.Deps{Hosts: r.Hosts}),
		node.New(s, p, node.Deps{Hosts: r.Hosts}),
		gpustack.New(s, p, gpustack.Deps{Cluster: r.Cluster, RunID: r.RunID}),
		telemetry.New(s, p, telemetry.Deps{Cluster: job.Cluster, RunID: r.RunID}),
		collective.New(s, p, job),
		training.New(s, p, job),
		inference.New(s, p, job),
	}
}

// Extras are the checks that a playbook can include beside its gates.
func Extras() []string { return []string{autoscale.Name} }

// ErrNoExtra is returned for a name that is none of Extras.
var ErrNoExtra = errors.New("there is no such check to include")

// Playbook is the Plan of a site's gates, and of the extras named.
func Playbook(s *site.Site, p *profile.Profile, r Reach, include ...string) (plan.Plan, error) {
	out := plan.Plan{Name: fmt.Sprintf("bring-up of %s (%d GPU nodes, %s)", s.Name, len(s.Inventory.Nodes), p.Name)}
	for _, g := range gates(s, p, r) {
		step := stepOf(g)
		step.Needs, step.NotApplicable = needs[g.Name()], s.NotApplicable[g.Name()]
		step.Prepare = pregate.For(s, g.Name(), r.Kubeconfig)
		out.Steps = append(out.Steps, step)
	}
	for _, name := range include {
		if !slices.Contains(Extras(), name) {
			return plan.Plan{}, fmt.Errorf("%w: %q, there are %v", ErrNoExtra, name, Extras())
		}
		step := stepOf(chain(s, p, autoscale.Options{}, r))
		step.Needs = needs[name]
		out.Steps = append(out.Steps, step)
	}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the bring-up of %s: %w", s.Name, err)
	}
	return out, nil
}

// Chain is the Plan of the autoscaling chain alone.
func Chain(s *site.Site, p *profile.Profile, o autoscale.Options, r Reach) (plan.Plan, error) {
	out := plan.Plan{Name: fmt.Sprintf("autoscaling chain of %s (%d GPU nodes, %s)", s.Name, len(s.Inventory.Nodes), p.Name)}
	out.Steps = []plan.Step{stepOf(chain(s, p, o, r))}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the autoscaling chain of %s: %w", s.Name, err)
	}
	return out, nil
}

func chain(s *site.Site, p *profile.Profile, o autoscale.Options, r Reach) gate {
	return autoscale.New(s, p, o, autoscale.Deps{Cluster: r.monitored(), RunID: r.RunID})
}

// stepOf is the step of a gate, with what the gate says of itself.
func stepOf(g gate) plan.Step {
	step := plan.Step{Check: g, Describe: g.Describe()}
	if c, ok := g.(interface{ Claims() int }); ok {
		step.GPUs = c.Claims()
	}
	return step
}

// everything is every check that a plan of ours may hold, with nothing to
// observe with.
func everything(s *site.Site, p *profile.Profile) []gate {
	return append(gates(s, p, Reach{}), chain(s, p, autoscale.Options{}, Reach{}))
}

// Checks are the gates and extras with nothing to observe with: they judge.
func Checks(s *site.Site, p *profile.Profile) []check.Check {
	var out []check.Check
	for _, g := range everything(s, p) {
		out = append(out, g)
	}
	return out
}

// Charts draws what gates have to draw, for the report.
func Charts(s *site.Site, p *profile.Profile) evidence.ChartsFor {
	drawers := map[string]func([]check.Observation) []chart.Chart{}
	for _, g := range everything(s, p) {
		if d, ok := g.(interface {
			Charts(obs []check.Observation) []chart.Chart
		}); ok {
			drawers[g.Name()] = d.Charts
		}
	}
	return func(step string, obs []check.Observation) []chart.Chart {
		if draw, ok := drawers[step]; ok {
			return draw(obs)
		}
		return nil
	}
}
