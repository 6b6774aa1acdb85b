package slurm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
)

const (
	remedyStorage = "set AccountingStorageType=accounting_storage/slurmdbd and AccountingStorageHost in slurm.conf, or add accounting to slurm.without"
	remedyDbd     = "on the host of slurmdbd: systemctl status slurmdbd and its database, and their logs; munge must have the same key there"
	remedyAgent   = "sdiag shows records that slurmctld could not send (DBD Agent queue size); check AccountingStorageHost, its port and sacctmgr show cluster"
	remedyTRES    = "add gres/gpu to AccountingStorageTRES in slurm.conf and restart slurmctld"
)

// unreachable are texts of sacct about a slurmdbd that does not answer.
var unreachable = []string{"Problem talking to the database", "persistent connection", "Connection refused", "Unable to connect to database", "slurmdbd"}

// Judge implements check.Check.
func (g *Accounting) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	config, o, ok := check.Require[probe.Config](&b, obs, kindConfig, "", "slurm.conf", remedyClient)
	if ok && !strings.HasSuffix(config.AccountingStorage, "/slurmdbd") {
		have := config.AccountingStorage
		if have == "" {
			have = "none"
		}
		b.Fail(o.ID, "slurm.conf AccountingStorageType", remedyStorage, "accounting storage is %s, want slurmdbd: no record of a job is kept", have)
		return b.Judgement("")
	}
	job, o, ok := check.Require[jobFigures](&b, obs, kindJob, "", "job", remedyJob)
	switch {
	case !ok:
	case job.Job == "" || job.Exit != 0 || job.TimedOut:
		b.Unobserved(o.ID, "job "+g.jobName(g.Name()), remedyJob, "the job of which a record is expected did not run (exit code %d): %s", job.Exit, job.Problem)
	default:
		g.judgeRecord(&b, obs, config, job.Job)
	}
	return b.Judgement(fmt.Sprintf("slurmdbd has the record of a job of %d nodes with its %d GPUs", len(g.site.Inventory.Nodes), g.Claims()))
}

// judgeRecord requires the complete record of the job.
func (g *Accounting) judgeRecord(b *check.Builder, obs []check.Observation, config probe.Config, job string) {
	f, o, ok := check.Require[recordFigures](b, obs, kindRecord, "", "record of the job", remedyClient)
	if !ok {
		return
	}
	waited := time.Duration(f.WaitedSeconds * float64(time.Second)).Round(time.Second)
	at := f.own(job)
	switch {
	case f.Exit != 0 && slices.ContainsFunc(unreachable, func(text string) bool { return strings.Contains(f.Problem, text) }):
		b.Fail(o.ID, "slurmdbd", remedyDbd, "slurmdbd does not answer: %s", f.Problem)
		return
	case f.Exit != 0:
		b.Unobserved(o.ID, "sacct", remedyClient, "sacct exited with code %d: %s", f.Exit, f.Problem)
		return
	case f.Name == "":
		b.Unobserved(o.ID, "sacct", remedyClient, "the name of job %s is not recorded: its ID alone may be that of an old job", job)
		return
	case at < 0:
		old := ""
		if other := slices.IndexFunc(f.Records, func(r probe.Record) bool { return r.Job == job }); other >= 0 {
			old = fmt.Sprintf(": job %s there is %s, another job with the same ID", job, f.Records[other].Name)
		}
		b.Fail(o.ID, "slurmdbd", remedyAgent, "no record of job %s %s after %s%s", job, f.Name, waited, old)
		return
	}
	r := f.Records[at]
	if r.State != "COMPLETED" || r.Exit != "0:0" {
		b.Fail(o.ID, "slurmdbd", remedyAgent, "the record of job %s has state %s and exit code %s after %s, want COMPLETED and 0:0", job, r.State, r.Exit, waited)
	}
	if want := len(g.site.Inventory.Nodes); r.Nodes != want {
		b.Fail(o.ID, "slurmdbd", remedyAgent, "the record of job %s has %d nodes, want %d", job, r.Nodes, want)
	}
	if want := g.Claims(); r.GPUs != want {
		text := ""
		if !slices.Contains(config.AccountingTRES, "gres/gpu") {
			text = ": AccountingStorageTRES has no gres/gpu"
		}
		b.Fail(o.ID, "slurm.conf AccountingStorageTRES", remedyTRES, "the record of job %s has %d GPUs, want %d%s", job, r.GPUs, want, text)
	}
	b.Figure(check.Figure{Name: "GPUs in the record", Value: float64(r.GPUs), Unit: "GPUs", Limit: float64(g.Claims()), Relation: "==", Source: "site inventory.nodes, profile node.gpus"})
}
