package access

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

// Each further line of nvidia-smi's message copied all earlier ones.
func TestLogsAreReadInLinearTime(t *testing.T) {
	const head, tail = logBegin + "\n", logEnd + "\n"
	growth.Linear(t, "the log of a pod", func(b []byte) { _, _ = ParseDevices(b) },
		growth.Text{Name: "device files", Head: head, Again: "device /dev/nvidia{n}\n", Tail: tail},
		growth.Text{Name: "GPUs", Head: head, Again: "GPU {n}: a (UUID: GPU-00000000-0000-0000-0000-000000000000)\n", Tail: tail},
		growth.Text{Name: "parts of a GPU", Head: head + "GPU 0: a", Again: " (UUID: GPU-", Tail: "\n" + tail},
		growth.Text{Name: "lines of a message", Head: head + "NVIDIA-SMI has failed\n", Again: "a\n", Tail: tail},
		growth.Text{Name: "lines", Again: "\n"},
	)
}
