package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/training"
)

// model is the only model of the simulated torchtitan.
const model = "llama3_8b"

// Setup are shell commands after which a job finds torchtitan.
func (c *Cluster) Setup() string { return "export TORCHTITAN_HOME=" + c.path("torchtitan") }

// trainers puts torchtitan, torchrun, a Python with PyTorch and vLLM into jobs.
func (c *Cluster) trainers(hardware, self string) error {
	configurations := c.path("torchtitan/train_configs")
	if err := os.MkdirAll(configurations, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(configurations, model+".toml"), []byte("[job]\n"), 0o600); err != nil {
		return err
	}
	for _, name := range []string{"torchrun", "python3", "vllm"} {
		if err := c.Program(name, fmt.Sprintf("%s=%s exec %s %s \"$@\"\n", taskEnv, hardware, self, name)); err != nil {
			return err
		}
	}
	return nil
}

// place is where a task of a job runs.
type place struct {
	nodes []string
	gpus  int
	env   func(string) string
}

// here is the index of the task's node in the job.
func (p place) here() int { return slices.Index(p.nodes, p.env("SLURMD_NODENAME")) }

// places are the nodes with the first GPUs of each.
func (p place) places(state world.State, gpus int) []training.Place {
	var out []training.Place
	for _, name := range p.nodes {
		at := training.Place{Node: name}
		host, _ := state.Node(name)
		for _, g := range host.GPUs {
			if g.Usable() && len(at.GPUs) < gpus {
				at.GPUs = append(at.GPUs, g.Index)
			}
		}
		out = append(out, at)
	}
	return out
}

// option is the value of --name=VALUE or --name VALUE.
func option(argv []string, name string) string {
	for i, word := range argv {
		if value, ok := strings.CutPrefix(word, name+"="); ok {
			return value
		}
		if word == name && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}

// torchrun prints the ranks of one node. Its rendezvous is at the first node, and its node rank is the task's: else
// the ranks of the other nodes would not find it.
func torchrun(ctx context.Context, w io.Writer, state world.State, p place, argv []string) (int, error) {
	gpus, errGPUs := strconv.Atoi(option(argv, "--nproc-per-node"))
	steps, errSteps := strconv.Atoi(cmp.Or(option(argv, "--training.steps"), option(argv, "--train-iters")))
	rank, errRank := strconv.Atoi(option(argv, "--node-rank"))
	refused := func(format string, args ...any) (int, error) {
		_, err := fmt.Fprintf(w, "torchrun: error: "+format+"\n", args...)
		return 1, err
	}
	switch here := p.here(); {
	case errors.Join(errGPUs, errSteps, errRank) != nil:
		return refused("invalid arguments: %s", strings.Join(argv, " "))
	case here < 0 || rank != here || option(argv, "--nnodes") != strconv.Itoa(len(p.nodes)):
		return refused("node %d of %s is %d of the job", rank, option(argv, "--nnodes"), here)
	case option(argv, "--master-addr") != p.nodes[0]:
		return refused("no rendezvous at %s", option(argv, "--master-addr"))
	case gpus > p.gpus:
		return refused("CUDA error: invalid device ordinal: %d of %d GPUs", gpus, p.gpus)
	}
	framework := training.Torchtitan
	if slices.Contains(argv, "pretrain_gpt.py") {
		framework = training.Megatron
	}
	job, err := training.Job{Framework: framework, Model: model, Steps: steps, Index: rank, Seed: state.Seed, Start: time.Now()}.On(state, p.places(state, gpus))
	if err != nil {
		return refused("%v", err)
	}
	return 0, job.Run(ctx, w, func(context.Context, time.Duration) error { return nil }) // the times in the output are the model's
}

// python prints what a program for PyTorch on its standard input prints: the measurement of GPUs, or the test of
// the directory for checkpoints.
func python(w io.Writer, state world.State, p place, program string) (int, error) {
	gpus, err := strconv.Atoi(p.env("GPUS_PER_NODE"))
	index, errIndex := strconv.Atoi(p.env("JOB_COMPLETION_INDEX"))
	if err := errors.Join(err, errIndex); err != nil || index != p.here() {
		return 1, fmt.Errorf("node %d of the job is %d: %w", index, p.here(), err)
	}
	at := p.places(state, min(gpus, p.gpus))[index]
	switch {
	case strings.Contains(program, "gpu matmul: "):
		return 0, at.Measure(w, state, index, state.Seed)
	case strings.Contains(program, "checkpoint test: "):
		mebibytes, err := strconv.Atoi(p.env("CHECKPOINT_MIB"))
		if err != nil {
			return 1, err
		}
		return 0, at.TestCheckpoints(w, state, index, p.env("CHECKPOINT_DIRECTORY"), mebibytes, state.Seed)
	default:
		_, err := fmt.Fprintln(w, "SyntaxError: invalid syntax")
		return 1, err
	}
}
