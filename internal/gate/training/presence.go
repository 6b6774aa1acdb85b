package training

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/probe/trainer"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	remedyHang  = "on the named nodes: dmesg for XIDs, ibstat, fabric manager; then run the collective gate again (--from collective)"
	remedyRead  = "read the pods' logs in the evidence"
	remedyStart = "compare the pods' start times and events: image pulls, mounts and admission that differ between nodes"
)

// terminated is a shell's exit code for a program that SIGTERM has ended.
const terminated = 128 + 15

// outcome reports why the job did not succeed.
func (r *review) outcome() {
	if r.job.Outcome.Succeeded && !r.timedOut() {
		return
	}
	what := "failed"
	if r.timedOut() {
		what = "hangs: it did not end before its timeout"
	}
	if r.failures(what) {
		return
	}
	var bad []string
	suspect, known := "job "+jobName, false
	for _, p := range r.job.Outcome.Pods {
		if p.ExitCode != nil && *p.ExitCode == 0 {
			continue
		}
		bad = append(bad, p.String())
		// A pod without an exit code, or ended by SIGTERM, was ended because of another.
		if own := p.ExitCode != nil && *p.ExitCode != terminated && !r.wasEnded(p.Pod); len(bad) == 1 && r.job.Outcome.Namespace != "" || own && !known {
			suspect, known = r.placeOf(p), own
		}
	}
	if p, ok := r.notBegun(); ok && !known {
		suspect = r.placeOf(p)
	}
	r.Fail(r.jobID, suspect, remedyRead, "training %s: %s %s", what, r.job.Outcome.Problem, list(bad))
}

// notBegun is the first task of Slurm that did not begin, of a job that failed while others did. Its time limit says
// nothing of it.
func (r *review) notBegun() (workload.Outcome, bool) {
	pods := r.job.Outcome.Pods
	waits := func(p workload.Outcome) bool { return p.Phase == slurmjob.NotBegun }
	i := slices.IndexFunc(pods, waits)
	if i < 0 || r.timedOut() || !slices.ContainsFunc(pods, func(p workload.Outcome) bool { return !waits(p) }) {
		return workload.Outcome{}, false
	}
	return pods[i], true
}

// wasEnded reports whether torchrun of a pod was ended by SIGTERM: it exits with code 1 then.
func (r *review) wasEnded(pod string) bool {
	return slices.ContainsFunc(r.pods, func(p podLog) bool {
		return p.Pod == pod && slices.ContainsFunc(p.Failures, func(f trainer.Failure) bool { return f.Kind == trainer.KindTerminated })
	})
}

// failures reports the failures in the logs except consequences, each kind of a rank once. It reports whether there are any.
func (r *review) failures(what string) bool {
	seen := map[string]bool{}
	for _, p := range r.pods {
		consequence := r.consequences(p)
		for _, f := range p.Failures {
			suspect := p.Node
			if f.Rank >= 0 {
				suspect = fmt.Sprintf("%s (rank %d)", r.nodeOf(f.Rank), f.Rank)
			}
			if consequence(f) || seen[suspect+f.Kind] {
				continue
			}
			seen[suspect+f.Kind] = true
			r.Fail(p.id, suspect, remedyHang, "training %s: %s: %s", what, f.Kind, f.Text)
		}
	}
	return len(seen) > 0
}

// placeOf names a pod; a task of Slurm by its node.
func (r *review) placeOf(p workload.Outcome) string {
	if namespace := r.job.Outcome.Namespace; namespace != "" {
		return fmt.Sprintf("pod %s/%s", namespace, p.Pod)
	}
	if p.Node == "" {
		return p.Pod
	}
	return p.Node
}

// presence requires each expected rank exactly once.
func (r *review) presence() {
	for _, p := range r.pods {
		if p.LogProblem != "" {
			r.Unobserved(r.jobID, p.Node, remedyRead, "the log of pod %s could not be read: %s", p.Pod, p.LogProblem)
		}
		if p.Clipped || len(p.Problems) > 0 {
			r.Unobserved(r.jobID, p.Node, remedyRead, "the log of pod %s has unreadable lines: %s", p.Pod, list(p.Problems))
		}
		if slices.ContainsFunc(p.Ranks, func(k Rank) bool { return k.Rank < 0 && len(k.Steps) > 0 }) {
			r.Unobserved(r.jobID, p.Node, "start the trainer so that torchrun labels each line with its global rank", "steps in the log of pod %s have no rank label", p.Pod)
		}
	}
	count := map[int]int{}
	for _, k := range r.ranks {
		count[k.Rank.Rank]++
		if k.Rank.Rank >= r.gate.ranks() || count[k.Rank.Rank] == 2 {
			r.Fail(k.id, k.node, remedyRead, "rank %d on %s is unexpected: the job has ranks 0 to %d, each once", k.Rank.Rank, k.node, r.gate.ranks()-1)
		}
	}
	missing := map[string][]string{}
	var nodes []string
	for rank := range r.gate.ranks() {
		if count[rank] == 0 {
			node := r.nodeOf(rank)
			if missing[node] == nil {
				nodes = append(nodes, node)
			}
			missing[node] = append(missing[node], fmt.Sprint(rank))
		}
	}
	for _, node := range nodes {
		message := fmt.Sprintf("ranks %s on %s have no output", list(missing[node]), node)
		if len(r.pods) < r.gate.pods() || !r.job.Outcome.Succeeded {
			r.Unobserved(r.jobID, node, remedyRead, "%s", message)
			continue
		}
		r.Fail(r.jobID, node, "make sure the trainer starts one rank a GPU and logs all ranks (LOG_RANK, --tee 3)", "%s", message)
	}
}

// startWindow requires that the ranks started together.
func (r *review) startWindow() {
	starts := r.starts()
	if len(starts) == 0 {
		r.Unobserved(r.jobID, "job "+jobName, remedyRead, "the start times of the ranks are unknown")
		return
	}
	first, last := starts[0], starts[0]
	for _, s := range starts {
		if s.at.Before(first.at) {
			first = s
		}
		if s.at.After(last.at) {
			last = s
		}
	}
	window := r.gate.profile.Training.StartWindow
	spread := last.at.Sub(first.at).Seconds()
	r.figure("start window", spread, "s", window.Value, "<=", "profile training.startWindow: "+window.Source)
	if spread > window.Value {
		r.Fail(r.jobID, last.node, remedyStart, "%s on %s started %.0f s after %s on %s, the maximum is %.0f s", last.name, last.node, spread, first.name, first.node, window.Value)
	}
}

type start struct {
	name, node string
	at         time.Time
}

// starts are the ranks' start times or, if incomplete, the pods'. They are empty if neither is
// complete.
func (r *review) starts() []start {
	var ranks, pods []start
	for _, k := range r.ranks {
		if !k.Started.IsZero() {
			ranks = append(ranks, start{fmt.Sprintf("rank %d", k.Rank.Rank), k.node, k.Started})
		}
	}
	if len(ranks) == r.gate.ranks() {
		return ranks
	}
	for _, p := range r.pods {
		if !p.PodStarted.IsZero() {
			pods = append(pods, start{"pod " + p.Pod, p.Node, p.PodStarted})
		}
	}
	if len(pods) == r.gate.pods() {
		return pods
	}
	return nil
}

func list(items []string) string { return check.JoinNames(items, 10) }
