package training

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/trainer"
)

var (
	// crashed matches what ended a process that did not end itself: the watchdog of NCCL, which waited for another rank,
	// ends its own with SIGABRT, and torchrun and Slurm the others with SIGTERM.
	crashed = regexp.MustCompile(`\(SIG(?:KILL|SEGV|BUS|ILL|FPE)\)|oom_kill event|Fatal Python error: (?:Segmentation|Bus|Illegal|Floating)`)
	// ended matches what a process prints whose peer has ended.
	ended = regexp.MustCompile(`remote process exited|Connection (?:closed|reset) by |DistNetworkError|DistStoreError|Rendezvous(?:Connection|Closed)Error|\(SIGTERM\)| CANCELLED AT `)
)

// causes reports a failure of the process itself: of its GPU, its memory or its program.
func causes(f trainer.Failure) bool {
	return f.Kind == "cuda-error" || f.Kind == "out-of-memory" || f.Kind == "killed" && crashed.MatchString(f.Text)
}

// cancelled reports slurmstepd's line about a step that Slurm has ended: after a task failed, or at the time limit. The
// slurmstepd of the first node prints it for all.
func cancelled(f trainer.Failure) bool {
	return f.Kind == "killed" && strings.Contains(f.Text, "slurmstepd: error: ") && strings.Contains(f.Text, " CANCELLED AT ")
}

// follows reports a failure that every rank has which waited for one that failed.
func follows(f trainer.Failure) bool {
	return f.Kind == trainer.KindTerminated || f.Kind == "collective-timeout" || ended.MatchString(f.Text)
}

// consequences reports, for the failures of one pod, those that follow from a cause in the logs of the job. Torchrun names the
// rank that failed first in its pod, which may have failed because of another pod's.
func (r *review) consequences(p podLog) func(trainer.Failure) bool {
	if !slices.ContainsFunc(r.pods, func(p podLog) bool { return slices.ContainsFunc(p.Failures, causes) }) {
		return func(f trainer.Failure) bool { return f.Kind == trainer.KindTerminated || cancelled(f) }
	}
	worker := func(f trainer.Failure) bool { return f.Kind == "worker-failed" }
	others := slices.DeleteFunc(slices.Clone(p.Failures), worker)
	waited := len(others) > 0 && !slices.ContainsFunc(others, func(f trainer.Failure) bool { return !follows(f) })
	return func(f trainer.Failure) bool { return follows(f) || waited && worker(f) }
}
