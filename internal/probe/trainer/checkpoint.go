package trainer

import (
	"fmt"
	"io"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// CheckpointTest is one pod's test of the file system for checkpoints.
type CheckpointTest struct {
	// Index is the pod's index in the job.
	Index int `json:"index"`
	// FileSystem is the type of the file system (lustre, nfs4), Source what is mounted.
	FileSystem string `json:"fileSystem,omitempty"`
	Source     string `json:"source,omitempty"`
	// FreeBytes is the free space before the test; nil if unknown.
	FreeBytes *int64 `json:"freeBytes,omitempty"`
	// Bytes were written, flushed, read back and equal.
	Bytes        int64   `json:"bytes"`
	WriteSeconds float64 `json:"writeSeconds,omitempty"`
	ReadSeconds  float64 `json:"readSeconds,omitempty"`
	// Error is the first error of the operating system, or of the comparison.
	Error string `json:"error,omitempty"`
}

// ParseCheckpointTests parses the lines of the checkpoint test. A pod prints one; a second line,
// or a line that cannot be parsed, is an error.
func ParseCheckpointTests(r io.Reader) ([]CheckpointTest, error) {
	return guard.Parse("checkpoint test", func() ([]CheckpointTest, error) {
		out, err := jsonLines[CheckpointTest](r, "checkpoint test: ", 1)
		if err != nil {
			return out, fmt.Errorf("read checkpoint test: %w", err)
		}
		return out, nil
	})
}
