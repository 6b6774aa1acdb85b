package gpustack

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestAnswersOfPodsAreReadInLinearTime(t *testing.T) {
	// readLog returns maxAnswer bytes at most.
	growth.Linear(t, "the answer of a pod", func(b []byte) { new(resolution).read(string(b[:min(len(b), maxAnswer)])) },
		growth.Text{Name: "addresses", Again: "10.0.0.1 STREAM a\n"},
		growth.Text{Name: "other addresses", Again: "fe80::{n} STREAM a\n"},
		growth.Text{Name: "blanks", Again: " "},
	)
}
