package training

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
)

const (
	remedyState = "read sacct -j JOB and the log of slurmctld about the job; then run it again with --from training"
	remedyLost  = "on the node: its power, its console, systemctl status slurmd and its log; then scontrol update NodeName=NODE State=RESUME"
)

// lost reports the nodes that failed under a job of Slurm, and whether there are any: their tasks and those of the
// other nodes have no exit code.
func (b *Sbatch) lost(r *review, obs []check.Observation) bool {
	if b == nil || len(check.OfKind(obs, KindNodes)) == 0 {
		return false
	}
	nodes, o, _ := check.Require[[]probe.Node](&r.Builder, obs, KindNodes, "", "nodes of the job", slurmjob.RemedyClient)
	for _, n := range nodes {
		if n.State != "DOWN" && !n.Has("NOT_RESPONDING") {
			continue
		}
		state := strings.Join(append([]string{n.State}, n.Flags...), "+")
		if n.Reason != "" {
			state += ": " + n.Reason
		}
		r.Fail(o.ID, n.Name, strings.ReplaceAll(remedyLost, "NODE", n.Name), "%s failed under the training: it is %s; %s", n.Name, state, r.job.Outcome.Problem)
	}
	return r.HasFailed()
}

// left notes an output that was read and could not be deleted.
func (b *Sbatch) left(r *review) {
	if b != nil && r.job.Outcome.Leftover != "" {
		r.Note(r.jobID, "job "+jobName, "delete the file", "the output of the job was not deleted: %s", r.job.Outcome.Leftover)
	}
}

// agrees requires that Slurm's state of the job and its record agree with an output that shows success.
func (b *Sbatch) agrees(r *review, obs []check.Observation) {
	if b == nil || !r.job.Outcome.Succeeded {
		return
	}
	const suspect = "job " + jobName
	s, o, ok := check.Require[slurmjob.State](&r.Builder, obs, KindState, "", suspect, slurmjob.RemedyClient)
	if !ok {
		return
	}
	if s.Submitted == "" || s.Name != s.Submitted {
		r.Unobserved(o.ID, suspect, remedyState, "job %s is %q, and %q was submitted", s.Job, s.Name, s.Submitted)
	}
	if s.Restarts > 0 {
		r.Unobserved(o.ID, suspect, remedyState, "job %s was requeued %d times: its output is not that of one run", s.Job, s.Restarts)
	}
	if s.State != "COMPLETED" || s.Exit != "0:0" {
		r.Fail(o.ID, suspect, remedyState, "job %s is %s with exit code %s, and its output shows success", s.Job, s.State, s.Exit)
	}
	if s.Nodes != r.gate.pods() {
		r.Fail(o.ID, suspect, remedyState, "job %s had %d nodes, want %d", s.Job, s.Nodes, r.gate.pods())
	}
	if b.accounting() {
		slurmjob.JudgeRecord(&r.Builder, obs, s.Job, r.gate.pods(), r.gate.Claims(), "")
	}
}
