package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/poll"
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
	f := jobFigures{Nodes: []slurm.Node{}}
	for {
		out, err := g.deps.Hosts.Run(ctx, host, argv...)
		attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
		if err == nil {
			attempt = attempt.Exit(out.Exit)
			f.Nodes, err = slurm.ReadNodes(out.Stdout, out.Stderr, out.Exit)
		}
		if err != nil {
			return false, attempt.Record(nil, err)
		}
		if !slices.ContainsFunc(f.Nodes, slurm.Node.Completes) || attempt.Elapsed() > g.site.Slurm.JobTimeout.D() {
			return !slices.ContainsFunc(f.Nodes, occupied), attempt.Record(f, nil)
		}
		rec.Progress("nodes are completing a job")
		if poll.Sleep(ctx, jobsInterval) != nil {
			return false, fmt.Errorf("observe the jobs on the nodes: %w", ctx.Err())
		}
	}
}

// jobsInterval is the time between two reads of the states of nodes whose epilogs run.
const jobsInterval = 2 * time.Second

// occupied reports whether a job runs on a node, or ends: its epilog runs, or its processes do not end. A job never ends on a node
// that does not answer, which is judged like the others: if only its slurmd is dead, the processes on its GPUs prevent the diagnostic.
func occupied(n slurm.Node) bool { return n.InUse() || n.Completes() }

// judgeJobs reports the nodes that run jobs. One that Slurm does not have runs none: gate gpustack judges it. In evidence of versions that
// did not wait for the end of jobs, a host that completed one was observed.
func (g *Gate) judgeJobs(b *check.Builder, obs []check.Observation) {
	f, o, ok := check.Require[jobFigures](b, obs, kindJobs, "", "jobs on the nodes", remedyState)
	if !ok {
		return
	}
	observed := map[string]bool{}
	for _, o := range obs {
		observed[o.Target] = observed[o.Target] || o.Kind != kindJobs
	}
	for _, n := range f.Nodes {
		if n.InUse() || n.Completes() && !observed[n.Name] {
			b.Unobserved(o.ID, n.Name, remedyJobs, "%s is %s: it runs jobs, or ends one, which the diagnostic would disturb", n.Name, strings.Join(append([]string{n.State}, n.Flags...), "+"))
		}
	}
}
