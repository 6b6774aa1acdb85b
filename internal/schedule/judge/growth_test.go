package judge_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/schedule/judge"
)

func TestRefusalsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "the scheduler's message", func(b []byte) {
		if r, ok := judge.ParseRefusal(string(b)); ok {
			_, _ = r.Insufficient(), r.String()
		}
	},
		growth.Text{Name: "reasons", Head: "0/4 nodes are available: 1 a", Again: ", 1 Insufficient a{n}"},
		growth.Text{Name: "numbers", Head: "0/4 nodes are available: 1 a", Again: ", 1 "},
		growth.Text{Name: "commas", Head: "0/4 nodes are available: ", Again: ", "},
		growth.Text{Name: "digits", Head: "0/4 nodes are available: ", Again: "1"},
		growth.Text{Name: "preemptions", Head: "0/4 nodes are available: 1 a. ", Again: "preemption: "},
		growth.Text{Name: "slashes", Again: "0/4 nodes are available:"},
	)
}
