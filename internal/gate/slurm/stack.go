package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/plan"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Stack is gate 4 of a Slurm cluster.
type Stack struct{ base }

var _ plan.Lowers = (*Stack)(nil)

// NewStack returns the gate.
func NewStack(s *site.Site, p *profile.Profile, deps Deps) *Stack {
	return &Stack{newBase(s, p, deps)}
}

// Name implements check.Check: the gate of the layer.
func (g *Stack) Name() string { return gpustack.Name }

// Excluding implements plan.Excluding.
func (g *Stack) Excluding(nodes []string) check.Check {
	return NewStack(g.site.Without(nodes), g.profile, g.deps)
}

// Lowered implements plan.Lowers.
func (g *Stack) Lowered() []string {
	return g.site.LoweredSlurm(site.WithoutProlog, site.WithoutEpilog)
}

// Describe lists the commands of Observe.
func (g *Stack) Describe() []string {
	out := []string{fmt.Sprintf("on %s, none as root:", g.host())}
	for _, argv := range [][]string{probe.PingCommand(), probe.ConfigCommand(), probe.PartitionsCommand(), probe.NodesCommand(g.site.NodeNames())} {
		out = append(out, strings.Join(argv, " "))
	}
	if g.pyxis() {
		out = append(out, "srun --help has --container-image (Pyxis)")
	}
	return append(out, ssh.Quote(g.jobCommand(g.Name())), "the nodes again, until none of them is completing")
}

func (g *Stack) pyxis() bool { return g.site.Slurm.Containers == site.ContainersPyxis }

// helpFigures are what srun --help shows.
type helpFigures struct {
	// Pyxis is set if srun has its options.
	Pyxis bool `json:"pyxis"`
}

// nodeFigures are those of the inventory; others of the cluster are not asked for.
type nodeFigures struct {
	Nodes []probe.Node `json:"nodes"`
}

// Observe implements check.Check. The job runs if nothing that was observed before stops it.
func (g *Stack) Observe(ctx context.Context, rec check.Recorder) error {
	if err := g.ready(); err != nil {
		return err
	}
	kept := &check.Kept{Recorder: rec}
	if err := g.observeState(ctx, kept); err != nil {
		return err
	}
	var b check.Builder
	if g.judgeState(&b, kept.Observations); !b.Clean() {
		return nil
	}
	if _, err := g.runJob(ctx, rec, g.Name()); err != nil {
		return err
	}
	return g.observeNodes(ctx, rec, kindAfter)
}

// observeState records what Slurm says of itself, without a job.
func (g *Stack) observeState(ctx context.Context, rec check.Recorder) error {
	// exit code 1 has figures, too
	if _, err := g.deps.Run(ctx, rec, kindPing, g.host(), probe.PingCommand(), func(out ssh.Output) (any, error) {
		controllers, err := probe.ParsePing(out.Stdout)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, slurmjob.FirstLines(out))
		}
		return controllers, nil
	}); err != nil {
		return err
	}
	if _, err := g.run(ctx, rec, kindConfig, probe.ConfigCommand(), func(out ssh.Output) (any, error) { return probe.ParseConfig(out.Stdout) }); err != nil {
		return err
	}
	if _, err := g.run(ctx, rec, kindPartitions, probe.PartitionsCommand(), func(out ssh.Output) (any, error) { return probe.ParsePartitions(out.Stdout) }); err != nil {
		return err
	}
	if g.pyxis() {
		if _, err := g.run(ctx, rec, kindHelp, []string{"srun", "--help"}, func(out ssh.Output) (any, error) {
			return helpFigures{Pyxis: strings.Contains(string(out.Stdout), "--container-image")}, nil
		}); err != nil {
			return err
		}
	}
	return g.observeNodes(ctx, rec, kindNodes)
}

// observeNodes records the nodes of the inventory once none of them is completing a job, or its time is over.
func (g *Stack) observeNodes(ctx context.Context, rec check.Recorder, kind string) error {
	argv := probe.NodesCommand(g.site.NodeNames())
	attempt := g.observer(rec).Begin(kind, g.host(), strings.Join(argv, " "))
	for {
		out, err := g.deps.Hosts.Run(ctx, g.host(), argv...)
		attempt = attempt.Raw(out.Stdout).From(out.Origin)
		if ctx.Err() != nil {
			return fmt.Errorf("observe the nodes: %w", ctx.Err())
		}
		var all []probe.Node
		if err == nil {
			all, err = probe.ReadNodes(out.Stdout, out.Stderr, out.Exit)
		}
		if err != nil {
			return attempt.Record(nil, err)
		}
		f := nodeFigures{Nodes: []probe.Node{}}
		completing := false
		for _, n := range all {
			if slices.Contains(g.site.NodeNames(), n.Name) {
				f.Nodes = append(f.Nodes, n)
				completing = completing || n.Completes()
			}
		}
		if !completing || attempt.Elapsed() > g.site.Slurm.JobTimeout.D() {
			return attempt.Exit(out.Exit).Record(f, nil)
		}
		rec.Progress("nodes are completing a job")
		if err := g.deps.Wait(ctx, min(interval, time.Second+attempt.Elapsed()/4)); err != nil {
			return fmt.Errorf("observe the nodes: %w", err)
		}
	}
}
