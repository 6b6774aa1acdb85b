package training

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

//go:embed torchtitan.sh
var torchtitanScript string

//go:embed megatron.sh
var megatronScript string

//go:embed gpus.py
var gpusProgram string

//go:embed checkpoint.py
var checkpointProgram string

// program runs a Python program before the trainer. If it fails, the trainer still runs, and what
// the program measures is unobserved.
func program(text, failure string) string {
	const end = "END_OF_PROGRAM"
	return "python3 - <<'" + end + "' || echo '" + failure + "' >&2\n" + text + end + "\n"
}

func measureGPUs() string { return program(gpusProgram, "the GPUs could not be measured") }

func testCheckpoint() string {
	return program(checkpointProgram, "the directory for checkpoints could not be tested")
}

// mebibytes of a GiB.
const mebibytes = 1024

// Workloads are the pods of the job.
func (g *Gate) Workloads() ([]workload.Spec, error) { return []workload.Spec{g.spec()}, nil }

// spec is the job.
func (g *Gate) spec() workload.Spec {
	t := g.site.Workloads.Training
	script := torchtitanScript
	if t.Framework == frameworkMegatron {
		script = megatronScript
	}
	var nodes []string
	for _, n := range g.site.Inventory.Nodes {
		nodes = append(nodes, n.Name)
	}
	env := map[string]string{
		"JOB_NAME": jobName, "NNODES": strconv.Itoa(g.pods()), "GPUS_PER_NODE": strconv.Itoa(g.gpus()),
		"FRAMEWORK": t.Framework, "MODEL": t.Model, "STEPS": strconv.Itoa(t.Steps), "LOG_RANK": "all",
	}
	if hcas := g.site.Fabric.HCAs; len(hcas) > 0 {
		env["NCCL_IB_HCA"] = "=" + strings.Join(hcas, ",")
	}
	before, directory := measureGPUs(), ""
	if c := t.Checkpoint; c != nil {
		before, directory = before+testCheckpoint(), c.Directory
		env["CHECKPOINT_DIRECTORY"], env["CHECKPOINT_MIB"] = workload.HostMount, strconv.Itoa(c.SizeGiB*mebibytes)
	}
	return workload.Spec{
		Name: jobName, Gate: Name, Pods: g.pods(), MinCount: g.pods(), GPUs: g.gpus(),
		NetworkResource: g.site.Fabric.NetworkResource, NetworkCount: g.site.Fabric.NetworkResourceCount,
		Image: t.Image, Container: site.TrainingContainer, Script: before + script,
		Env:   env,
		Nodes: nodes, OnePerNode: true, HostDirectory: directory,
		Patches: g.site.PodPatches(Name),
	}
}

// command describes the command.
func (g *Gate) command() string {
	if g.batch != nil {
		return ssh.Quote(g.batch.runner.Submit(g.batch.job(g.spec()))) + ": " + g.trainer()
	}
	return g.trainer()
}

// trainer describes the command of the trainer.
func (g *Gate) trainer() string {
	if g.site.Workloads.Training.Framework == frameworkMegatron {
		return "torchrun pretrain_gpt.py --train-iters " + strconv.Itoa(g.site.Workloads.Training.Steps)
	}
	return "torchrun -m torchtitan.train --training.steps " + strconv.Itoa(g.site.Workloads.Training.Steps)
}
