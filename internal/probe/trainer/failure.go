package trainer

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Failure is one line that reports why a job failed.
type Failure struct {
	// Kind is "collective-timeout", "worker-failed", "rendezvous-timeout",
	// "out-of-memory", "nccl-error" or "exception".
	Kind string `json:"kind"`
	// Rank is the rank that the line names, otherwise the rank that printed it; -1 if unknown.
	Rank int `json:"rank"`
	// Operation is the collective that timed out.
	Operation string `json:"operation,omitempty"`
	Text      string `json:"text"`
}

// maxText is the longest text of a failure, in bytes.
const maxText = 400

var (
	watchdog = regexp.MustCompile(`\[[Rr]ank ?(\d+)\] Watchdog caught collective operation timeout`)
	opType   = regexp.MustCompile(`OpType=(\w+)`)
	rootRank = regexp.MustCompile(`\brank\s*:\s*(\d+)\s*\(local_rank`)
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
		if m := watchdog.FindStringSubmatch(l.Text); m != nil {
			f.Rank = rank(m[1], f.Rank)
		}
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
	case strings.HasPrefix(l.Text, "RuntimeError:"), strings.HasPrefix(l.Text, "ValueError:"), strings.HasPrefix(l.Text, "ModuleNotFoundError:"):
		f.Kind = "exception"
	default:
		return Failure{}, false
	}
	return f, true
}

func rank(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > logline.MaxRank {
		return otherwise
	}
	return n
}
