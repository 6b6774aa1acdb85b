package collective

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

const (
	remedyHang    = "check the named nodes for XIDs, links that are down and a stopped fabric manager; then run it again with --from collective"
	remedyRelease = "read the end of the first pod's log: it releases the others by SSH; check DNS and the pod network between these nodes, then " + remedyOnce
	remedyLost    = "on the node: its power, its console, systemctl status slurmd and its log; then scontrol update NodeName=NODE State=RESUME"
	remedyRerun   = "read the whole log in the evidence; run it again with --from collective; if it ends early again, find the cause (time limits, evictions)"
	remedyMemory  = "set workloads.collective.maxBytes of the site to the last size of the table: nccl-tests needs three buffers of the largest size in the memory of each GPU"
	remedyRotated = "raise containerLogMaxSize of the kubelets (10Mi by default) above the size of this log, and let proxies in front of the API server keep the stream of a followed log; then " + remedyOnce
)

// completeness requires every size of every repetition, with its footer.
func (r *review) completeness() {
	f := r.f
	for _, node := range slices.Sorted(maps.Keys(f.Outcome.Lost)) {
		r.blame(node, strings.ReplaceAll(remedyLost, "NODE", node), "%s failed under the collective: it is %s; %s", node, f.Outcome.Lost[node], f.Outcome.Problem)
	}
	switch waiting := r.waiting(); {
	case f.Outcome.Ended != gangjob.EndedTimeout:
	case len(waiting) > 0:
		r.Unobserved(r.id, waiting[0], remedyRelease, "the collective ended, and %s did not end before the timeout", list(waiting))
	default:
		r.hang()
	}
	r.exits()
	if f.Rotated { // a missing part shows nothing
		r.Unobserved(r.id, r.launcher(), remedyRotated, "the beginning of the log is missing: the kubelet has rotated it, and it could not be followed to its end; %d of %d repetitions are in the rest", len(f.Runs), f.Repetitions)
		return
	}
	if len(f.Runs) == 0 {
		r.noTable()
		return
	}
	// mpirun fails if data is wrong, which ends the repetitions
	if len(f.Runs) != f.Repetitions && !r.corrupt() {
		r.Fail(r.id, "incomplete output of "+r.launcher(), remedyRerun, "the log is incomplete: %d of %d repetitions are in it", len(f.Runs), f.Repetitions)
	}
	for i, run := range f.Runs {
		r.wholeRun(i+1, run)
	}
}

func (r *review) wholeRun(n int, run nccl.Run) {
	for _, text := range run.Errors {
		if harmlessEvent.MatchString(text) {
			continue
		}
		r.searchable = true
		r.Fail(r.id, r.launcher(), remedyHang, "repetition %d: %s", n, text)
	}
	r.requested(n, run)
	if run.MinBytes != r.f.MinBytes || run.MaxBytes != r.f.MaxBytes {
		r.Fail(r.id, r.launcher(), remedyRerun, "repetition %d ran sizes %d to %d bytes, want %d to %d", n, run.MinBytes, run.MaxBytes, r.f.MinBytes, r.f.MaxBytes)
	}
	want := nccl.Run{MinBytes: r.f.MinBytes, MaxBytes: r.f.MaxBytes, StepFactor: 2}.Sizes()
	var have []int64
	for _, row := range run.Rows {
		have = append(have, row.Bytes)
	}
	switch {
	case !run.Complete():
		last := "no size"
		if len(have) > 0 {
			last = fmt.Sprintf("%d bytes", have[len(have)-1])
		}
		r.Fail(r.id, "truncated output of "+r.launcher(), remedyRerun, "repetition %d is truncated: no footer, the table ends at %s of %d bytes (%d of %d sizes)", n, last, r.f.MaxBytes, len(have), len(want))
	case len(run.Problems) > 0:
		r.Unobserved(r.id, r.launcher(), "read the lines in the evidence", "repetition %d has unreadable lines: %s", n, strings.Join(run.Problems, "; "))
	case r.reached(have, want):
	case r.reduced(run, have):
		r.Unobserved(r.id, r.launcher(), remedyMemory, "repetition %d ends at %d bytes, want %d: the memory of a GPU does not hold the buffers of larger sizes, nccl-tests reduced maxBytes to %d", n, have[len(have)-1], r.f.MaxBytes, run.ReducedTo)
	default:
		r.Fail(r.id, "incomplete output of "+r.launcher(), remedyRerun, "repetition %d is incomplete: sizes reached %v, want %v", n, have, want)
	}
}

// requested requires that the output is of the requested test. Versions before 2.17 do not print it: the
// ratio identifies an all-reduce, and no other collective. Builds for MPI may have the suffix "_mpi" (NAME_SUFFIX of
// its Makefile), as in NGC's images of PyTorch.
func (r *review) requested(n int, run nccl.Run) {
	want := r.f.test()
	switch {
	case strings.TrimSuffix(run.Test, "_mpi") == want.program:
	case run.Test != "":
		r.refuse(remedyRerun, "repetition %d is of %s, want %s", n, run.Test, want.program)
	case !want.isAllReduce():
		r.Unobserved(r.id, r.launcher(), "use nccl-tests 2.17 or later, which prints its test", "repetition %d does not say of which test it is, want %s", n, want.program)
	}
}

// reached reports whether the sizes are the demanded ones, rounded down as the test does.
func (r *review) reached(have, want []int64) bool {
	return slices.EqualFunc(have, want, func(size, step int64) bool { return r.f.test().printed(size, step, r.expectedRanks()) })
}

// reduced reports whether the sizes are all that the memory of a GPU holds.
func (r *review) reduced(run nccl.Run, have []int64) bool {
	return len(have) > 0 && r.reached(have, nccl.Run{MinBytes: r.f.MinBytes, MaxBytes: run.ReducedTo, StepFactor: 2}.Sizes())
}

// noTable judges a job without output of nccl-tests.
func (r *review) noTable() {
	text := r.f.LogProblem
	if len(r.f.LogTail) > 0 {
		text += "; its last lines: " + strings.Join(r.f.LogTail, " | ")
	}
	if r.f.Outcome.Succeeded || len(r.f.LogTail) == 0 {
		r.Unobserved(r.id, r.launcher(), "check that the image has "+r.f.test().program+", mpirun and sshd, and that the log can be read", "the log has no table of results: %s", text)
		return
	}
	r.searchable = true
	r.Fail(r.id, r.launcher(), "check that the image has "+r.f.test().program+", mpirun and sshd; read the log in the evidence", "the collective ended without a table of results: %s", text)
}

// exits reports failed pods, unless the tables explain the failure.
func (r *review) exits() {
	if r.f.Outcome.Succeeded || r.f.Outcome.Ended != gangjob.EndedDone || r.corrupt() {
		return
	}
	r.searchable = true
	var bad []string
	for _, p := range r.f.Outcome.Pods {
		if p.ExitCode == nil || *p.ExitCode != 0 {
			bad = append(bad, p.String())
		}
	}
	r.Fail(r.id, r.launcher(), remedyHang, "the collective failed: %s %s", r.f.Outcome.Problem, list(bad))
}

// waiting are the pods that have not ended although mpirun ended well with whole tables: their release failed.
func (r *review) waiting() []string {
	f := r.f
	if f.Rotated || len(f.Runs) != f.Repetitions || slices.ContainsFunc(f.Runs, func(run nccl.Run) bool { return !run.Complete() }) {
		return nil
	}
	ended := false
	var pods []string
	for _, p := range f.Outcome.Pods {
		switch {
		case p.ExitCode == nil:
			pods = append(pods, fmt.Sprintf("pod %s/%s on %s", f.Outcome.Namespace, p.Pod, p.Node))
		case p.Index == 0:
			ended = *p.ExitCode == 0
		}
	}
	if !ended {
		return nil
	}
	return pods
}

// hang names the nodes whose ranks never finished initialising while others did.
func (r *review) hang() {
	done := map[int]bool{}
	for _, rank := range r.f.NCCL.Ranks {
		done[rank.Rank] = rank.Inits > 0
	}
	late := map[string]bool{}
	for rank, node := range r.place.ranks {
		if !done[rank] {
			late[node] = true
		}
	}
	// a line that mpirun cut may be that of a rank that did
	if len(late) > 0 && len(late) < len(r.f.Nodes) && !r.f.Rotated && r.f.NCCL.Cut == 0 {
		for _, node := range slices.Sorted(maps.Keys(late)) {
			r.blame(node, remedyHang, "the collective hangs: ranks on %s never finished initialising, those of the other nodes did", node)
		}
		return
	}
	r.searchable = true
	r.Fail(r.id, r.everything(), remedyHang, "the collective hangs: it did not end before its timeout%s%s", r.warnings(), r.problem())
}

// problem is how the wait for the job ended.
func (r *review) problem() string {
	if r.f.Outcome.Problem == "" {
		return ""
	}
	return "; " + r.f.Outcome.Problem
}

// warnings is NCCL's first warning.
func (r *review) warnings() string {
	if len(r.f.NCCL.Warnings) == 0 {
		return ""
	}
	w := r.f.NCCL.Warnings[0]
	return fmt.Sprintf("; NCCL on %s warned: %s", r.place.node(w.Host), w.Text)
}
