package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
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
		ssh.Quote(g.jobCommand(g.Name())),
		fmt.Sprintf("%s, until the record is complete, at most %s", strings.Join(probe.RecordCommand("JOB"), " "), g.site.Slurm.JobTimeout.D()),
	}
}

// recordFigures are the answer of sacct about the job.
type recordFigures struct {
	Job string `json:"job"`
	// Name is that of the job, with the run in it.
	Name string `json:"name"`
	Exit int    `json:"exit"`
	// Problem are lines of sacct's error.
	Problem string         `json:"problem,omitempty"`
	Records []probe.Record `json:"records"`
	// WaitedSeconds is how long the record was waited for.
	WaitedSeconds float64 `json:"waitedSeconds"`
}

// own is the index of the record of the job, -1 without one. An old job may have the same ID: IDs begin again
// where slurmctld lost its state, and slurmdbd's database keeps its records.
// A new record has the name "allocation" until slurmctld has sent its beginning (seen with 22.05).
func (f recordFigures) own(job string) int {
	return slices.IndexFunc(f.Records, func(r probe.Record) bool { return r.Job == job && r.Name == f.Name })
}

// complete reports whether the record of the job is that of its end.
func (f recordFigures) complete() bool {
	at := f.own(f.Job)
	return at >= 0 && !slices.Contains([]string{"RUNNING", "PENDING", "COMPLETING"}, f.Records[at].State)
}

// Observe implements check.Check.
func (g *Accounting) Observe(ctx context.Context, rec check.Recorder) error {
	if err := g.ready(); err != nil {
		return err
	}
	if _, err := g.run(ctx, rec, kindConfig, probe.ConfigCommand(), func(out ssh.Output) (any, error) { return probe.ParseConfig(out.Stdout) }); err != nil {
		return err
	}
	job, err := g.runJob(ctx, rec, g.Name())
	if err != nil || job.Job == "" {
		return err
	}
	return g.observeRecord(ctx, rec, job.Job)
}

// observeRecord records the last answer of sacct: slurmctld sends records when it has time to.
func (g *Accounting) observeRecord(ctx context.Context, rec check.Recorder, job string) error {
	argv := probe.RecordCommand(job)
	attempt := g.observer(rec).Begin(kindRecord, g.host(), strings.Join(argv, " "))
	for {
		out, err := g.deps.Hosts.Run(ctx, g.host(), argv...)
		attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
		if ctx.Err() != nil {
			return fmt.Errorf("observe the record of job %s: %w", job, ctx.Err())
		}
		f := recordFigures{Job: job, Name: g.jobName(g.Name()), Exit: out.Exit, Records: []probe.Record{}, WaitedSeconds: attempt.Elapsed().Seconds()}
		switch {
		case err != nil:
		case out.Exit == exitNotFound:
			err = exitError(argv, out)
		case out.Exit != 0:
			f.Problem = firstLines(out)
		default:
			f.Records, err = probe.ParseRecords(out.Stdout)
		}
		if err != nil {
			return attempt.Record(nil, err)
		}
		if f.complete() || f.Exit != 0 || attempt.Elapsed() > g.site.Slurm.JobTimeout.D() {
			return attempt.Exit(out.Exit).Record(f, nil)
		}
		if err := g.deps.Wait(ctx, interval); err != nil {
			return fmt.Errorf("observe the record of job %s: %w", job, err)
		}
	}
}
