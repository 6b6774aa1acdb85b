package node

import (
	"context"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

const (
	remedyJobs  = "wait for its jobs, or drain or reserve the node first, then run the gate again"
	remedyState = "check that slurmctld runs, and that the login host has Slurm's client commands and slurm.conf"
)

// jobFigures are the nodes of the inventory as Slurm sees them.
type jobFigures struct {
	Nodes []slurm.Node `json:"nodes"`
}

func (g *Gate) jobsCommand() []string { return slurm.NodesCommand(g.site.NodeNames()) }

// observeJobs records the states of the nodes of a Slurm cluster, and reports whether none of them is known to
// run jobs, or not known.
func (g *Gate) observeJobs(ctx context.Context, rec check.Recorder) (free bool, err error) {
	argv, host := g.jobsCommand(), g.site.Slurm.Host()
	attempt := g.observer(rec).Begin(kindJobs, host, ssh.Quote(argv))
	out, err := g.deps.Hosts.Run(ctx, host, argv...)
	attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
	f := jobFigures{Nodes: []slurm.Node{}}
	if err == nil {
		attempt = attempt.Exit(out.Exit)
		f.Nodes, err = slurm.ReadNodes(out.Stdout, out.Stderr, out.Exit)
	}
	if err != nil {
		return false, attempt.Record(nil, err)
	}
	return !slices.ContainsFunc(f.Nodes, slurm.Node.InUse), attempt.Record(f, nil)
}

// judgeJobs reports the nodes that run jobs. One that Slurm does not have runs none: gate gpustack judges it.
func (g *Gate) judgeJobs(b *check.Builder, obs []check.Observation) {
	f, o, ok := check.Require[jobFigures](b, obs, kindJobs, "", "jobs on the nodes", remedyState)
	if !ok {
		return
	}
	for _, n := range f.Nodes {
		if n.InUse() {
			b.Unobserved(o.ID, n.Name, remedyJobs, "%s is %s: it runs jobs, which the diagnostic would disturb", n.Name, strings.Join(append([]string{n.State}, n.Flags...), "+"))
		}
	}
}
