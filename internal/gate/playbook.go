package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/fabric/efa"
	"github.com/firstlight/firstlight/internal/gate/fabric/roce"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/toolpod"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Hosts runs commands on the site's hosts.
type Hosts interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Access is the access of the gates to hosts and cluster. It is zero for gates that only
// judge or describe.
type Access struct {
	Hosts Hosts
	// Dial opens a TCP connection from a host; spine slurm needs it.
	Dial inference.Dial
	// Cluster connects to the cluster; it may wait until the cluster is up.
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Monitored, if set, waits until Prometheus and Alertmanager are up, for the gates from
	// telemetry on.
	Monitored func(ctx context.Context) error
	// Kubeconfig is for preparations that run programs.
	Kubeconfig pregate.Kubeconfig
	// Page permits notifications of a receiver that pages people.
	Page bool
	// RunID is the value of the run label of every created object.
	RunID string
	// Killed are the killed runs whose objects this run removes.
	Killed []string
}

// Tools are the hosts, with the programs of the GPU driver and of DCGM where the site says; nil without hosts.
func (a Access) Tools(s *site.Site) Hosts {
	if a.Hosts == nil {
		return nil
	}
	return toolpod.New(s, a.Hosts, a.Cluster)
}

// monitored is Cluster for gates that also need Prometheus and Alertmanager.
func (a Access) monitored() func(ctx context.Context) (*kube.Cluster, error) {
	if a.Cluster == nil || a.Monitored == nil {
		return a.Cluster
	}
	return func(ctx context.Context) (*kube.Cluster, error) {
		cluster, err := a.Cluster(ctx)
		if err != nil {
			return nil, err
		}
		return cluster, a.Monitored(ctx)
	}
}

// needs are the needs of each gate: the previous gate; training and inference both need
// collective.
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

// gate is a Check with a description.
type gate interface {
	check.Check
	Describe() []string
}

// gates returns all eight, in order. The facility and the fabric are of the whole site, the others of
// each group of its nodes.
func gates(s *site.Site, p *profile.Profile, a Access) []gate {
	switch {
	case s.SingleNode():
		return singleNode(s, p, a)
	case s.OnSlurm():
		return onSlurm(s, p, a)
	case s.OnRay():
		return onRay(s, p, a)
	}
	job := collective.Deps{Cluster: a.monitored(), RunID: a.RunID}
	out := []gate{facility.New(s, p, facility.Deps{}), fabricGate(s, p, a)}
	for _, make := range []newGate{
		func(s *site.Site, p *profile.Profile) gate {
			return node.New(s, p, node.Deps{Hosts: a.Tools(s), Cluster: a.Cluster})
		},
		func(s *site.Site, p *profile.Profile) gate {
			return gpustack.New(s, p, gpustack.Deps{Cluster: a.Cluster, RunID: a.RunID})
		},
		func(s *site.Site, p *profile.Profile) gate {
			return telemetry.New(s, p, telemetry.Deps{Cluster: job.Cluster, RunID: a.RunID, Page: a.Page})
		},
		func(s *site.Site, p *profile.Profile) gate { return collective.New(s, p, job) },
		func(s *site.Site, p *profile.Profile) gate { return training.New(s, p, job) },
		func(s *site.Site, p *profile.Profile) gate { return inference.New(s, p, job) },
	} {
		out = append(out, inGroups(s, p, make))
	}
	return out
}

// fabricGate is gate 2 of the profile's kind of fabric.
func fabricGate(s *site.Site, p *profile.Profile, a Access) gate {
	switch p.Fabric.Kind {
	case profile.RoCE:
		return roce.New(s, p, onhost.Deps{Hosts: a.Hosts})
	case profile.EFA:
		return efa.New(s, p, onhost.Deps{Hosts: a.Hosts})
	default:
		if len(s.Fabric.Subnets) > 0 {
			return fabric.NewSubnets(s, p, onhost.Deps{Hosts: a.Hosts})
		}
		return fabric.New(s, p, onhost.Deps{Hosts: a.Hosts})
	}
}

// Extras are the checks that a playbook can include in addition to its gates.
func Extras() []string { return []string{autoscale.Name} }

// ErrNoExtra is the error for a name that Extras does not contain.
var ErrNoExtra = errors.New("unknown check to include")

// Playbook is the Plan of a site's gates and the included extras.
func Playbook(s *site.Site, p *profile.Profile, a Access, include ...string) (plan.Plan, error) {
	profiles := []string{p.Name}
	for _, g := range s.Groups {
		profiles = append(profiles, g.Figures.Name)
	}
	out := plan.Plan{Name: fmt.Sprintf("bring-up of %s (%d GPU nodes, %s)", s.Name, len(s.Inventory.Nodes), strings.Join(profiles, ", "))}
	if err := checkPods(s, p); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the bring-up of %s: %w", s.Name, err)
	}
	reasons := s.WhyNotApplicable(p)
	for _, g := range gates(s, p, a) {
		step := stepOf(g)
		step.Needs, step.NotApplicable = needs[g.Name()], reasons[g.Name()]
		step.Prepare = pregate.For(s, g.Name(), a.Kubeconfig, nodesAfter(g.Name(), s, p, a))
		step.Playbooks = Playbooks(s, p, g.Name())
		out.Steps = append(out.Steps, step)
	}
	if !s.Kubernetes() && len(include) > 0 {
		return plan.Plan{}, fmt.Errorf("include %s: spine %s has no Kubernetes cluster", strings.Join(include, ", "), s.Spine)
	}
	for _, name := range include {
		if !slices.Contains(Extras(), name) {
			return plan.Plan{}, fmt.Errorf("%w %q: want one of %v", ErrNoExtra, name, Extras())
		}
		step := stepOf(chain(s, p, autoscale.Options{}, a))
		step.Needs = needs[name]
		// The chain ends with the removal of the run's Lease and objects, which gates use.
		step.After = site.Gates()
		out.Steps = append(out.Steps, step)
	}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the bring-up of %s: %w", s.Name, err)
	}
	return out, nil
}

// Chain is the Plan of the autoscaling chain alone.
func Chain(s *site.Site, p *profile.Profile, o autoscale.Options, a Access) (plan.Plan, error) {
	out := plan.Plan{Name: fmt.Sprintf("autoscaling chain of %s (%d GPU nodes, %s)", s.Name, len(s.Inventory.Nodes), p.Name)}
	out.Steps = []plan.Step{stepOf(chain(s, p, o, a))}
	if err := out.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the autoscaling chain of %s: %w", s.Name, err)
	}
	return out, nil
}

func chain(s *site.Site, p *profile.Profile, o autoscale.Options, a Access) gate {
	return autoscale.New(s, p, o, autoscale.Deps{Cluster: a.monitored(), RunID: a.RunID})
}

// stepOf is the step of a gate, with its description and claims.
func stepOf(g gate) plan.Step {
	step := plan.Step{Check: g, Describe: g.Describe()}
	if c, ok := g.(interface{ Claims() int }); ok {
		step.GPUs = c.Claims()
	}
	return step
}

// everything is every gate and extra, without access: they judge only.
func everything(s *site.Site, p *profile.Profile) []gate {
	return append(gates(s, p, Access{}), chain(s, p, autoscale.Options{}, Access{}))
}

// Checks are the gates and extras without access: they judge only.
func Checks(s *site.Site, p *profile.Profile) []check.Check {
	var out []check.Check
	for _, g := range everything(s, p) {
		out = append(out, g)
	}
	return out
}

// Charts draws the charts of the gates for the report.
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
