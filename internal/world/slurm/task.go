package slurm

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
)

// AllReduce is what all_reduce_perf prints in the first task of a job on these nodes, and its exit code:
// "all_reduce_perf -b MIN -e MAX ...". env has NCCL's variables.
func AllReduce(w io.Writer, state world.State, nodes, argv []string, env func(string) string) (int, error) {
	flag := func(name string) string {
		if i := slices.Index(argv, name); i >= 0 && i+1 < len(argv) {
			return argv[i+1]
		}
		return ""
	}
	from, errFrom := collective.ParseBytes(flag("-b"))
	to, errTo := collective.ParseBytes(flag("-e"))
	if errFrom != nil || errTo != nil {
		_, err := fmt.Fprintf(w, "invalid arguments: %s\n", strings.Join(argv, " "))
		return 1, err
	}
	run := collective.Run{
		MinBytes: from, MaxBytes: to, Repetitions: 1, HCASelection: env("NCCL_IB_HCA"), Debug: env("NCCL_DEBUG") == "INFO",
		Corrupt: state.Collective.DataCorruption, Truncated: state.Collective.Truncated,
	}
	for i, name := range nodes {
		host, ok := state.Node(name)
		if !ok {
			_, err := fmt.Fprintf(w, "%s: unknown node\n", name)
			return 1, err
		}
		run.Fabric, run.CUDA, run.Corrupt = host.Hardware.Fabric, host.Hardware.Software.CUDA, run.Corrupt || host.DataCorruption
		var gpus []int
		for _, g := range host.GPUs {
			if g.Usable() {
				gpus = append(gpus, g.Index)
			}
		}
		node := collective.NodeOf(state, host, gpus)
		node.Host, node.Address = name, fmt.Sprintf("10.0.0.%d", i+1)
		run.Nodes = append(run.Nodes, node)
	}
	return run.Write(w)
}
