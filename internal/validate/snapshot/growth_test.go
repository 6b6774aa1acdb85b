package snapshot

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestAnswersOfAgentsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "the answer of an agent", func(b []byte) { _, _ = parseAnswer(b, request{release: true, gpu: true}) },
		growth.Text{Name: "keys", Head: logBegin + "\n" + logRelease + "\n", Again: "A=1\n", Tail: logSMI + "\n" + logEnd + "\n"},
		growth.Text{Name: "other keys", Head: logBegin + "\n" + logRelease + "\n", Again: "A{n}=\"1\"\n", Tail: logSMI + "\n" + logEnd + "\n"},
		growth.Text{Name: "lines of nvidia-smi", Head: logBegin + "\n" + logRelease + "\nID=a\n" + logSMI + "\n", Again: "a\n", Tail: logEnd + "\n"},
		growth.Text{Name: "quotes", Head: logBegin + "\n" + logRelease + "\nA=", Again: "\"", Tail: "\n" + logSMI + "\n" + logEnd + "\n"},
	)
}
