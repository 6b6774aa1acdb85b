package training

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// reporters are the ranks that must print every step: all of them; with Megatron, only the last
// one prints.
func (r *review) reporters() []ranked {
	if r.job.Framework != frameworkMegatron {
		return r.ranks
	}
	var out []ranked
	for _, k := range r.ranks {
		if len(k.Steps) > 0 || k.Rank.Rank == r.gate.ranks()-1 {
			out = append(out, k)
		}
	}
	return out
}

// steps requires that each reporter printed each step, that no iteration was skipped, and that
// the loss is finite and decreases.
func (r *review) steps() {
	fewest := -1
	for _, k := range r.reporters() {
		reached := map[int]bool{}
		last := 0
		for _, s := range k.Steps {
			if s.Step >= 1 && s.Step <= r.job.Steps {
				reached[s.Step] = true
			}
			last = max(last, s.Step)
		}
		if fewest < 0 || last < fewest {
			fewest = last
		}
		switch {
		case last < r.job.Steps:
			r.Fail(k.id, fmt.Sprintf("%s (rank %d)", k.node, k.Rank.Rank), remedyRead, "rank %d on %s ended at step %d of %d", k.Rank.Rank, k.node, last, r.job.Steps)
		case len(reached) < r.job.Steps:
			r.Unobserved(r.jobID, k.node, "let the trainer print every step (log_freq 1, --log-interval 1)", "rank %d on %s printed %d of %d steps", k.Rank.Rank, k.node, len(reached), r.job.Steps)
		}
		r.skipped(k)
	}
	if !slices.ContainsFunc(r.ranks, func(k ranked) bool { return k.Completed }) {
		r.Unobserved(r.jobID, "job "+jobName, remedyRead, "no rank reported the completion of training")
	}
	if fewest >= 0 {
		r.figure("steps reached", float64(fewest), "steps", float64(r.job.Steps), "==", "site workloads.training.steps")
	}
	r.restarted()
	r.loss()
}

// restarted requires that no rank began again: torchrun starts all workers once more after one has failed, if it may
// (--max-restarts, PET_MAX_RESTARTS), and the job succeeds.
func (r *review) restarted() {
	if !r.job.Outcome.Succeeded {
		return // outcome reports what failed
	}
	for _, k := range r.reporters() {
		last := 0
		for _, s := range k.Steps {
			if s.Step < 1 || s.Step > r.job.Steps {
				continue // not a step of the job
			}
			if s.Step == last {
				r.Unobserved(k.id, "job "+jobName, remedyRestart, "rank %d on %s printed step %d twice: whether it was restarted is not known", k.Rank.Rank, k.node, s.Step)
				return
			}
			if s.Step < last {
				r.failures("was restarted")
				r.Fail(k.id, "job "+jobName, remedyRestart, "training was restarted: rank %d on %s printed step %d after step %d", k.Rank.Rank, k.node, s.Step, last)
				return
			}
			last = s.Step
		}
	}
}

func (r *review) skipped(k ranked) {
	skipped, nan := 0, 0
	for _, s := range k.Steps {
		if s.Skipped != nil {
			skipped = max(skipped, *s.Skipped)
		}
		if s.NaN != nil {
			nan = max(nan, *s.NaN)
		}
	}
	if skipped+nan > 0 {
		r.Fail(k.id, "job "+jobName, "check the loss scale and the gradient norm; run the collective gate again to check for corrupt data", "%d iterations were skipped and %d were nan, by rank %d", skipped, nan, k.Rank.Rank)
	}
}

const remedyRestart = "find in the logs of all ranks what ended the first attempt, and look for XIDs on their nodes; then run it again with --from training"

const remedyLoss = "check the data set and the learning rate; if they are known to be good, suspect silent data corruption: run the collective gate and dcgmi diag -r 4"

const remedyNaN = "bisect the nodes until the faulty one is found; run dcgmi diag -r 4 on it; if every node fails, check the data set and the learning rate"

// noLoss is the loss that torchtitan prints at every step of a rank that is not of the last pipeline stage (its issues 550
// and 1232): it is multiplied by the batches that a step accumulates, and since torchtitan sums over data parallel ranks
// by their number too (train_step of its train.py).
const noLoss = -1

// withLoss are the reporters that compute a loss.
func (r *review) withLoss() []ranked {
	return slices.DeleteFunc(slices.Clone(r.reporters()), func(k ranked) bool {
		return len(k.Steps) > 0 && k.Steps[0].Loss != nil && *k.Steps[0].Loss <= noLoss && *k.Steps[0].Loss == math.Trunc(*k.Steps[0].Loss) &&
			!slices.ContainsFunc(k.Steps, func(s Step) bool { return s.Loss == nil || *s.Loss != *k.Steps[0].Loss })
	})
}

// loss requires a finite loss on every rank and step, and a lower median over the last third of
// the steps than over the first third.
func (r *review) loss() {
	byStep := map[int][]float64{}
	bad := map[int]Step{} // by rank, the first without a finite loss
	for _, k := range r.withLoss() {
		for _, s := range k.Steps {
			if s.Loss != nil {
				byStep[s.Step] = append(byStep[s.Step], *s.Loss)
				continue
			}
			if _, ok := bad[k.Rank.Rank]; !ok {
				bad[k.Rank.Rank] = s
			}
		}
	}
	if len(bad) > 0 {
		r.notFinite(bad)
		return
	}
	curve := series(byStep, median)
	if len(curve) < thirds {
		r.Unobserved(r.jobID, "job "+jobName, remedyRead, "%d losses are too few to judge whether it decreases", len(curve))
		return
	}
	first, last := ends(curve)
	r.figure("loss at the end", last, "", first, "<=", "median of the last third below that of the first third")
	if last >= first {
		r.Fail(r.jobID, "loss of job "+jobName, remedyLoss, "the loss does not decrease: its median is %.4f over the first third of the steps and %.4f over the last", first, last)
	}
}

// notFinite blames the ranks whose loss is not finite. If the loss of every rank is not finite
// from the same step on, no rank can be blamed: trainers print the loss reduced over all ranks.
func (r *review) notFinite(first map[int]Step) {
	reporters := r.withLoss()
	at := first[slices.Min(slices.Collect(maps.Keys(first)))]
	same := !slices.ContainsFunc(reporters, func(k ranked) bool {
		s, ok := first[k.Rank.Rank]
		return !ok || s.Step != at.Step
	})
	if same && r.gate.ranks() > 1 {
		r.Fail(r.jobID, "loss of job "+jobName, remedyNaN, "the loss is %q at step %d on every rank: it is reduced over all ranks, so the rank that computed it is unknown", at.LossText, at.Step)
		return
	}
	for _, k := range reporters {
		if s, ok := first[k.Rank.Rank]; ok {
			r.Fail(k.id, fmt.Sprintf("%s (rank %d)", k.node, k.Rank.Rank), remedyLoss, "the loss of rank %d is %q at step %d", k.Rank.Rank, s.LossText, s.Step)
		}
	}
}

// thirds is the minimum number of points with a first and a last third.
const thirds = 3

// ends are the medians of the first and the last third.
func ends(values []float64) (first, last float64) {
	n := len(values) / thirds
	return median(values[:n]), median(values[len(values)-n:])
}

// series reduces the values of several ranks to one value per step, in order.
func series(byStep map[int][]float64, one func([]float64) float64) []float64 {
	steps := make([]int, 0, len(byStep))
	for s := range byStep {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, cmp.Compare[int])
	out := make([]float64, 0, len(steps))
	for _, s := range steps {
		out = append(out, one(byStep[s]))
	}
	return out
}
