package slurmjob

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
)

// RemedyClient is for a command of Slurm that could not be run.
const RemedyClient = "check that the login host has Slurm's client commands and slurm.conf, and that munged runs there"

const (
	remedyDbd   = "on the host of slurmdbd: systemctl status slurmdbd and its database, and their logs; munge must have the same key there"
	remedyAgent = "sdiag shows records that slurmctld could not send (DBD Agent queue size); check AccountingStorageHost, its port and sacctmgr show cluster"
	remedyTRES  = "add gres/gpu to AccountingStorageTRES in slurm.conf and restart slurmctld"
)

// unreachable are texts of sacct about a slurmdbd that does not answer.
var unreachable = []string{"Problem talking to the database", "persistent connection", "Connection refused", "Unable to connect to database", "slurmdbd"}

// JudgeRecord requires the complete record of a job that ended well, with its nodes and GPUs. notTracked explains a
// record without GPUs.
func JudgeRecord(b *check.Builder, obs []check.Observation, job string, nodes, gpus int, notTracked string) {
	f, o, ok := check.Require[Record](b, obs, KindRecord, "", "record of the job", RemedyClient)
	if !ok {
		return
	}
	at := f.own(job)
	switch {
	case f.Exit != 0 && slices.ContainsFunc(unreachable, func(text string) bool { return strings.Contains(f.Problem, text) }):
		b.Fail(o.ID, "slurmdbd", remedyDbd, "slurmdbd does not answer: %s", f.Problem)
		return
	case f.Exit != 0:
		b.Unobserved(o.ID, "sacct", RemedyClient, "sacct exited with code %d: %s", f.Exit, f.Problem)
		return
	case f.Name == "":
		b.Unobserved(o.ID, "sacct", RemedyClient, "the name of job %s is not recorded: its ID alone may be that of an old job", job)
		return
	case at < 0:
		old := ""
		if other := slices.IndexFunc(f.Records, func(r probe.Record) bool { return r.Job == job }); other >= 0 {
			old = ": job " + job + " there is " + f.Records[other].Name + ", another job with the same ID"
		}
		b.Fail(o.ID, "slurmdbd", remedyAgent, "no record of job %s %s after %s%s", job, f.Name, f.waited(), old)
		return
	}
	r := f.Records[at]
	if r.State != "COMPLETED" || r.Exit != "0:0" {
		b.Fail(o.ID, "slurmdbd", remedyAgent, "the record of job %s has state %s and exit code %s after %s, want COMPLETED and 0:0", job, r.State, r.Exit, f.waited())
	}
	if r.Nodes != nodes {
		b.Fail(o.ID, "slurmdbd", remedyAgent, "the record of job %s has %d nodes, want %d", job, r.Nodes, nodes)
	}
	if r.GPUs != gpus {
		b.Fail(o.ID, "slurm.conf AccountingStorageTRES", remedyTRES, "the record of job %s has %d GPUs, want %d%s", job, r.GPUs, gpus, notTracked)
	}
	b.Figure(check.Figure{Name: "GPUs in the record", Value: float64(r.GPUs), Unit: "GPUs", Limit: float64(gpus), Relation: "==", Source: "site inventory.nodes, profile node.gpus"})
}
