package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
)

// taskEnv makes this program one of nccl-tests, torchrun, vLLM or Python in a job; it has the path of the simulated hardware.
const taskEnv = "FIRSTLIGHT_SLURM_TASK"

// hardware are the nodes of jobs, and their faults.
type hardware struct {
	Nodes  int           `json:"nodes"`
	Faults []world.Fault `json:"faults"`
}

// NewWorld is the hardware of a cluster with this number of nodes.
func NewWorld(nodes int, faults []world.Fault) (*world.World, error) {
	w, err := world.New(world.DefaultSpec(nodes))
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if _, err := w.AddFault(f); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Programs puts nccl-tests, a trainer and vLLM into the PATH of jobs: this program, which must call Task.
func (c *Cluster) Programs(nodes int, faults []world.Fault) error {
	text, err := json.Marshal(hardware{Nodes: nodes, Faults: faults})
	if err != nil {
		return err
	}
	path := c.path("hardware.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range collective.ProgramNames() {
		if err := c.Program(name, fmt.Sprintf("[ \"$SLURM_PROCID\" = 0 ] || exit 0\n%s=%s exec %s %s \"$@\"\n", taskEnv, path, self, name)); err != nil {
			return err
		}
	}
	return c.trainers(path, self)
}

// Task runs this program as one of those in jobs.
func Task(ctx context.Context, stdout, stderr io.Writer) (exit int, is bool) {
	path := os.Getenv(taskEnv)
	if path == "" {
		return 0, false
	}
	exit, err := task(ctx, stdout, path)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1, true
	}
	return exit, true
}

func task(ctx context.Context, stdout io.Writer, path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var h hardware
	if err := json.Unmarshal(text, &h); err != nil {
		return 0, err
	}
	w, err := NewWorld(h.Nodes, h.Faults)
	if err != nil {
		return 0, err
	}
	names, err := exec.CommandContext(ctx, "scontrol", "show", "hostnames", os.Getenv("SLURM_JOB_NODELIST")).Output()
	if err != nil {
		return 0, fmt.Errorf("list the nodes of the job: %w", err)
	}
	p := place{nodes: strings.Fields(string(names)), env: os.Getenv}
	p.gpus, _ = strconv.Atoi(os.Getenv("SLURM_GPUS_ON_NODE")) // none without the variable
	switch os.Args[1] {
	case "torchrun":
		return torchrun(ctx, stdout, w.State(), p, os.Args[2:])
	case "vllm":
		return vllm(ctx, stdout, w.State(), p, os.Args[2:])
	case "python3":
		program, err := io.ReadAll(os.Stdin)
		if err != nil {
			return 0, err
		}
		return python(stdout, w.State(), p, string(program))
	default:
		return Tests(stdout, w.State(), p.nodes, os.Args[1:], os.Getenv)
	}
}

// Tests is what a program of nccl-tests prints in the first task of a job on these nodes, and its exit code:
// "all_reduce_perf -b MIN -e MAX ...". env has NCCL's variables.
func Tests(w io.Writer, state world.State, nodes, argv []string, env func(string) string) (int, error) {
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
	program, _ := collective.ProgramIn(strings.Join(argv, " "))
	run := collective.Run{
		Program: program, Uplinks: state.Collective.Uplinks,
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
