package host

import (
	"context"
	"path"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// Command runs argv at one time of the world, as Run does.
type Command func(ctx context.Context, state world.State, node string, argv []string) (stdout, stderr []byte, exit int)

// Execute runs argv on a host of the world: a diagnostic loads its GPUs, and an nvidia-smi
// observes them.
func Execute(ctx context.Context, w *world.World, node string, argv []string, run Command) (stdout, stderr []byte, exit int) {
	diagnose(ctx, w, node, argv)
	if len(argv) > 0 && path.Base(argv[0]) == smiProgram {
		defer w.Look(node)()
	}
	return run(ctx, w.Recent(), node, argv)
}

// longestDiagnostic bounds the load of a diagnostic without an nvidia-smi. A real one takes
// minutes, during which its GPUs are observed under load.
const longestDiagnostic = 20 * time.Second

// diagnose loads the host's GPUs, as a diagnostic does, until an nvidia-smi has run.
func diagnose(ctx context.Context, w *world.World, node string, argv []string) {
	n, ok := w.Recent().Node(node)
	if !ok || n.UsableGPUs() == 0 || !Loads(argv) {
		return
	}
	observed, stop := w.Exercise(node)
	defer stop()
	longest := time.NewTimer(longestDiagnostic)
	defer longest.Stop()
	select {
	case <-observed:
	case <-longest.C:
	case <-ctx.Done():
	}
}
