package slurm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
)

const remedyStorage = "set AccountingStorageType=accounting_storage/slurmdbd and AccountingStorageHost in slurm.conf, or add accounting to slurm.without"

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
		notTracked := ""
		if !slices.Contains(config.AccountingTRES, "gres/gpu") {
			notTracked = ": AccountingStorageTRES has no gres/gpu"
		}
		slurmjob.JudgeRecord(&b, obs, job.Job, len(g.site.Inventory.Nodes), g.Claims(), notTracked)
	}
	return b.Judgement(fmt.Sprintf("slurmdbd has the record of a job of %d nodes with its %d GPUs", len(g.site.Inventory.Nodes), g.Claims()))
}
