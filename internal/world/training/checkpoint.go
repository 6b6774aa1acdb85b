package training

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/firstlight/firstlight/internal/world"
)

// Checkpoint is one pod's test of the directory for checkpoints.
type Checkpoint struct {
	Storage world.HardwareStorage
	// Index of the pod in the job, Directory inside the pod, MiB to write.
	Index     int
	Directory string
	MiB       int
	// FreeGiB on the shared file system.
	FreeGiB float64
	// ReadOnly and Unmounted are as of world.Node.
	ReadOnly, Unmounted bool
	Seed                uint64
}

// diskGiB is the free space of a node's own disk, which has as much speed as the shared file system.
const diskGiB = 1600

// WriteCheckpoint prints the result of the test.
func WriteCheckpoint(w io.Writer, c Checkpoint) error {
	const reserveGiB, mebi, gibi = 1, 1 << 20, 1 << 30
	kind, source, free := c.Storage.FileSystem, c.Storage.Source, c.FreeGiB
	if c.Unmounted {
		kind, source, free = c.Storage.Disk, c.Storage.DiskSource, diskGiB
	}
	var result string
	switch rng := rand.New(rand.NewPCG(c.Seed, uint64(c.Index))); { //nolint:gosec // noise of a model, no secret
	case c.ReadOnly:
		result = fmt.Sprintf(`"bytes": 0, "error": "[Errno 30] Read-only file system: '%s/.firstlight-%08x'"`, c.Directory, rng.Uint32())
	case free < float64(c.MiB)/1024+reserveGiB:
		result = `"bytes": 0, "error": "[Errno 28] No space left on device"`
	default:
		seconds := func(rate float64) float64 { return float64(c.MiB) * mebi / 1e6 / rate * (1 + 0.1*rng.Float64()) }
		result = fmt.Sprintf(`"bytes": %d, "writeSeconds": %.3f, "readSeconds": %.3f`, c.MiB*mebi, seconds(c.Storage.WriteMBps), seconds(c.Storage.ReadMBps))
	}
	if _, err := fmt.Fprintf(w, "checkpoint test: {\"index\": %d, \"fileSystem\": %q, \"source\": %q, \"freeBytes\": %.0f, %s}\n", c.Index, kind, source, free*gibi, result); err != nil {
		return fmt.Errorf("write the test of the checkpoint directory: %w", err)
	}
	return nil
}
