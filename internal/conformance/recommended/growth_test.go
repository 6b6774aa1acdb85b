package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestKernelsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "the kernel of a pod", func(b []byte) { _, _ = parseKernel(b) },
		growth.Text{Name: "versions", Head: kernelBegin + "\n", Again: "Linux version 6\n", Tail: kernelEnd + "\n"},
		growth.Text{Name: "other lines", Head: kernelBegin + "\n", Again: "a\n", Tail: kernelEnd + "\n"},
		growth.Text{Name: "digits", Head: kernelBegin + "\n", Again: "0", Tail: "\n" + kernelEnd + "\n"},
	)
}
