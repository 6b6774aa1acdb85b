package trainer

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Failure is one line that reports why a job failed.
type Failure struct {
	// Kind is "collective-timeout", "watchdog", "worker-failed", "rendezvous-timeout",
	// "out-of-memory", "nccl-error", "cuda-error", "killed", "exception" or KindTerminated.
	Kind string `json:"kind"`
	// Rank is the global rank that the line names, otherwise the rank that printed it; -1 if unknown.
	Rank int `json:"rank"`
	// Operation is the collective that timed out.
	Operation string `json:"operation,omitempty"`
	Text      string `json:"text"`
}

// KindTerminated is the failure of a torchrun that SIGTERM ended: it is a consequence of another one.
const KindTerminated = "terminated"

// maxText is the longest text of a failure, in bytes.
const maxText = 400

var (
	// watchdog matches the rank in its process group: in the default group it is the global rank.
	watchdog = regexp.MustCompile(`\[((?:PG [^\]]*)?)[Rr]ank ?(\d+)\] (?:Process group watchdog thread terminated with exception: |Watchdog caught)`)
	// printer matches the label and the head of a line of PyTorch from 2.2 on: the label has the global rank.
	// Where the label began the line, logline has removed it.
	printer  = regexp.MustCompile(`(?:\[rank(\d+)\]:|^)\[[A-Z]\d+ [\d:.]+ \S+\] `)
	opType   = regexp.MustCompile(`OpType=(\w+)`)
	rootRank = regexp.MustCompile(`\brank\s*:\s*(\d+)\s*\(local_rank`)
	// terminated matches the exception of torchrun when a scheduler or an operator ends it with SIGTERM.
	terminated = regexp.MustCompile(`SignalException: Process \d+ got signal: 15$`)
	// raised matches the last line of a traceback.
	raised = regexp.MustCompile(`^(?:\w+\.)*\w*(?:Error|Exception)(?:: |:?$)`)
)

// DetectFailure returns the failure that a line reports, if any.
func DetectFailure(l logline.Line) (Failure, bool) {
	f := Failure{Rank: l.Rank, Text: strings.Clone(strings.TrimSpace(l.Text))}
	if len(f.Text) > maxText {
		f.Text = f.Text[:maxText]
	}
	switch {
	case strings.Contains(l.Text, "Watchdog caught collective operation timeout"):
		f.Kind = "collective-timeout"
		f.Rank = waitingRank(l)
		if m := opType.FindStringSubmatch(l.Text); m != nil {
			f.Operation = strings.Clone(m[1])
		}
	case strings.Contains(l.Text, "RendezvousTimeoutError"):
		f.Kind = "rendezvous-timeout"
	case strings.Contains(l.Text, "OutOfMemoryError"), strings.Contains(l.Text, "CUDA out of memory"):
		f.Kind = "out-of-memory"
	case strings.Contains(l.Text, "ChildFailedError"):
		f.Kind = "worker-failed"
	case strings.Contains(l.Text, "(local_rank") && rootRank.MatchString(l.Text):
		f.Kind = "worker-failed"
		f.Rank = rank(rootRank.FindStringSubmatch(l.Text)[1], f.Rank)
	case strings.Contains(l.Text, "DistBackendError"), strings.Contains(l.Text, "NCCL error"):
		f.Kind = "nccl-error"
	case strings.Contains(l.Text, "CUDA error: "):
		f.Kind = "cuda-error"
	case strings.Contains(l.Text, "watchdog got stuck"), strings.Contains(l.Text, "watchdog thread terminated"):
		f.Kind = "watchdog"
	case killed(f.Text):
		f.Kind = "killed"
	case terminated.MatchString(f.Text):
		f.Kind = KindTerminated
	case raised.MatchString(f.Text):
		f.Kind = "exception"
	default:
		return Failure{}, false
	}
	return f, true
}

// killed reports a process that a signal, Slurm or the kernel ended.
func killed(text string) bool {
	return strings.Contains(text, "(SIG") && strings.Contains(text, ") received by PID") ||
		strings.Contains(text, "oom_kill event") || strings.Contains(text, "Fatal Python error: ") ||
		strings.HasPrefix(text, "slurmstepd: error: ") && strings.Contains(text, " CANCELLED AT ")
}

// waitingRank is the global rank that waited for a collective.
func waitingRank(l logline.Line) int {
	if m := printer.FindStringSubmatch(l.Text); m != nil && (m[1] != "" || l.Rank >= 0) {
		return rank(m[1], l.Rank)
	}
	if m := watchdog.FindStringSubmatch(l.Text); m != nil && (m[1] == "" || strings.Contains(m[1], "(default_pg)")) {
		return rank(m[2], l.Rank)
	}
	return l.Rank
}

func rank(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > logline.MaxRank {
		return otherwise
	}
	return n
}
