package slurm

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Accounting is gate 5 of a Slurm cluster: the records of its jobs.
type Accounting struct{ base }

// NewAccounting returns the gate.
func NewAccounting(s *site.Site, p *profile.Profile, deps Deps) *Accounting {
	return &Accounting{newBase(s, p, deps)}
}

// Name implements check.Check: the gate of the layer.
func (g *Accounting) Name() string { return telemetry.Name }

// Excluding implements plan.Excluding.
func (g *Accounting) Excluding(nodes []string) check.Check {
	return NewAccounting(g.site.Without(nodes), g.profile, g.deps)
}

// Describe lists the commands of Observe.
func (g *Accounting) Describe() []string {
	return []string{
		fmt.Sprintf("on %s, none as root:", g.host()),
		strings.Join(probe.ConfigCommand(), " "),
		strings.Join(probe.NodesCommand(g.site.NodeNames()), " ") + "; nothing else if one of them runs jobs",
		ssh.Quote(g.jobCommand(g.Name())),
		fmt.Sprintf("%s, until the record is complete, at most %s", strings.Join(probe.RecordCommand("JOB"), " "), g.site.Slurm.JobTimeout.D()),
	}
}

// Observe implements check.Check.
func (g *Accounting) Observe(ctx context.Context, rec check.Recorder) error {
	if err := g.ready(); err != nil {
		return err
	}
	if _, err := g.run(ctx, rec, kindConfig, probe.ConfigCommand(), func(out ssh.Output) (any, error) { return probe.ParseConfig(out.Stdout) }); err != nil {
		return err
	}
	if _, err := g.runner().Free(ctx, g.site.NodeNames()); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("observe the nodes: %w", ctx.Err())
		}
		return g.observer(rec).Begin(kindJob, g.host(), ssh.Quote(g.jobCommand(g.Name()))).Record(nil, err)
	}
	job, err := g.runJob(ctx, rec, g.Name())
	if err != nil || job.Job == "" {
		return err
	}
	return g.runner().ObserveRecord(ctx, rec, g.Name(), job.Job)
}
