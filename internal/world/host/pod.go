package host

import (
	"context"
	"fmt"
	"path"

	"github.com/firstlight/firstlight/internal/world"
)

// podTools has the program of each of the GPU Operator's containers that has one.
var podTools = map[string]string{"nvidia-driver-ctr": smiProgram, "nvidia-dcgm-ctr": dcgmProgram}

// InPods reports whether a container of that name has a program of the hosts.
func InPods(container string) bool { return podTools[container] != "" }

// RunIn runs programs in a container: the driver's and DCGM's have theirs where the host does not.
func RunIn(container string) Command {
	return func(ctx context.Context, state world.State, node string, argv []string) (stdout, stderr []byte, exit int) {
		n, ok := state.Node(node)
		if err := ctx.Err(); err != nil || !ok {
			return nil, []byte("interrupted\n"), 130
		}
		if program := path.Base(argv[0]); !n.ToolsInPods || podTools[container] != program || n.ToolMissing == program {
			return nil, fmt.Appendf(nil, "sh: 1: %s: not found\n", argv[0]), NotFound
		}
		return start(state, n, argv)
	}
}

// NotFound is a shell's exit code for a program that does not exist.
const NotFound = 127
