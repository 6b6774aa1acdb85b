package collective

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// IsCommand reports whether a command line is for Command.
func IsCommand(argv []string) bool {
	return slices.ContainsFunc(argv, func(word string) bool { return slices.Contains(ProgramNames(), word) })
}

// Command runs "env NAME=VALUE... PROGRAM -b MIN -e MAX -g GPUS" in a login of a host and returns its
// exit code: one process with the first GPUs that CUDA lists.
func Command(stdout, stderr io.Writer, state world.State, host world.Node, argv []string) (int, error) {
	flag := func(name string) string {
		if i := slices.Index(argv, name); i >= 0 && i+1 < len(argv) {
			return argv[i+1]
		}
		return ""
	}
	from, errFrom := ParseBytes(flag("-b"))
	to, errTo := ParseBytes(flag("-e"))
	n, errGPUs := strconv.Atoi(flag("-g"))
	if errFrom != nil || errTo != nil || errGPUs != nil {
		_, err := fmt.Fprintf(stderr, "invalid arguments: %s\n", strings.Join(argv, " "))
		return 1, err
	}
	var gpus []int
	for _, g := range host.GPUs {
		if g.Usable() {
			gpus = append(gpus, g.Index)
		}
	}
	if len(gpus) < n {
		_, err := fmt.Fprintf(stderr, "Invalid number of GPUs: %d requested but only %d were found.\nPlease check the number of processes and GPUs per process.\n", n, len(gpus))
		return 1, err
	}
	program, _ := ProgramIn(strings.Join(argv, " "))
	run := Run{
		Program: program,
		Fabric:  host.Hardware.Fabric, CUDA: host.Hardware.Software.CUDA, MinBytes: from, MaxBytes: to, Repetitions: 1, OneProcess: true,
		Debug: slices.Contains(argv, "NCCL_DEBUG=INFO"), Nodes: []Node{NodeOf(state, host, gpus[:n])},
		Corrupt: state.Collective.DataCorruption || host.DataCorruption, Truncated: state.Collective.Truncated,
	}
	run.Nodes[0].Address = "10.0.0.5"
	return run.Write(stdout)
}
