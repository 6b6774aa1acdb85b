package slurmjob

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// KindRecord is the kind of the observation of a job's accounting record.
const KindRecord = "sacct"

// Record is the answer of sacct about a job.
type Record struct {
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
func (f Record) own(job string) int {
	return slices.IndexFunc(f.Records, func(r probe.Record) bool { return r.Job == job && r.Name == f.Name })
}

// complete reports whether the record of the job is that of its end.
func (f Record) complete() bool {
	at := f.own(f.Job)
	return at >= 0 && !slices.Contains([]string{"RUNNING", "PENDING", "COMPLETING"}, f.Records[at].State)
}

// exitNotFound is a shell's exit code for a program that it does not find.
const exitNotFound = 127

// ObserveRecord records the last answer of sacct about the job of a gate: slurmctld sends records when it has time to.
func (r Runner) ObserveRecord(ctx context.Context, rec check.Recorder, gate, job string) error {
	argv := probe.RecordCommand(job)
	attempt := check.Observer{Recorder: rec, Clock: r.Deps.Clock}.Begin(KindRecord, r.Site.Slurm.Host(), strings.Join(argv, " "))
	for {
		out, err := r.run(ctx, argv...)
		attempt = attempt.Raw(onhost.Raw(out)).From(out.Origin)
		if ctx.Err() != nil {
			return fmt.Errorf("observe the record of job %s: %w", job, ctx.Err())
		}
		f := Record{Job: job, Name: Name(gate, r.RunID), Exit: out.Exit, Records: []probe.Record{}, WaitedSeconds: attempt.Elapsed().Seconds()}
		switch {
		case err != nil:
		case out.Exit == exitNotFound:
			err = problemOf("sacct", out, nil)
		case out.Exit != 0:
			f.Problem = FirstLines(out)
		default:
			f.Records, err = probe.ParseRecords(out.Stdout)
		}
		if err != nil {
			return attempt.Record(nil, err)
		}
		if f.complete() || f.Exit != 0 || attempt.Elapsed() > r.Site.Slurm.JobTimeout.D() {
			return attempt.Exit(out.Exit).Record(f, nil)
		}
		if err := r.Deps.Wait(ctx, interval); err != nil {
			return fmt.Errorf("observe the record of job %s: %w", job, err)
		}
	}
}

// FirstLines are at most four lines of an error, without repetitions and the marks of tasks.
func FirstLines(out ssh.Output) string {
	const lines, width = 4, 160
	var found []string
	for line := range strings.Lines(strings.ToValidUTF8(string(out.Stderr)+"\n"+string(out.Stdout), "?")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, taskMark) || slices.Contains(found, line) {
			continue
		}
		if found = append(found, line[:min(len(line), width)]); len(found) == lines {
			break
		}
	}
	return strings.Join(found, " | ")
}

// waited is how long the record was waited for, for people.
func (f Record) waited() time.Duration {
	return time.Duration(f.WaitedSeconds * float64(time.Second)).Round(time.Second)
}
