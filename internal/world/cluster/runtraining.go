package cluster

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/training"
)

// training simulates torchrun with the ranks of this pod.
func (w *worker) training(out io.Writer, gpus []int) (int, error) {
	nodes, okNodes := w.env.number("NNODES", 1)
	steps, okSteps := w.env.number("STEPS", 0)
	per, okPer := w.env.number("GPUS_PER_NODE", len(gpus))
	if !okNodes || !okSteps || !okPer {
		return usage(out, "torchrun: error: bad environment: NNODES=%q STEPS=%q GPUS_PER_NODE=%q", w.env["NNODES"], w.env["STEPS"], w.env["GPUS_PER_NODE"])
	}
	mine := gpus[:min(per, len(gpus))]
	g, leave := w.join(mine)
	defer leave()
	if err := w.setLoad(gpus, trainingLoad()); err != nil {
		return 1, err
	}
	if err := w.matmul(out, mine); err != nil {
		return 1, err
	}
	if err := w.checkpoint(out); err != nil {
		return 1, err
	}
	members, err := g.complete(w.ctx, nodes)
	if err != nil {
		return 0, ignoreDone(w, err)
	}
	state := w.runtime.world.Recent()
	host, _ := state.Node(w.pod.Spec.NodeName)
	job := training.Job{
		Figures: host.Hardware.Training, MemoryGiB: float64(host.Hardware.GPU.MemoryMiB) / 1024,
		Framework: framework(w.container, w.env), Model: w.env["MODEL"], Steps: steps, Index: rankOf(w.pod), Seed: w.seed(state),
		MFUFactor: state.Training.MFUFactor, StepJitter: state.Training.StepJitter, NaNFrom: state.Training.NaNFrom, Start: time.Now(),
	}
	slowest := 1.0
	for _, m := range members {
		job.Nodes = append(job.Nodes, training.Node{GPUs: len(m.gpus), Slow: slowness(state, m.node)})
		slowest = min(slowest, speed(state, m))
	}
	job.MFUFactor *= slowest // ranks synchronize in every layer
	if err := job.Validate(); err != nil {
		return usage(out, "torchrun: error: %v", err)
	}
	if err := job.Run(w.ctx, out, sleep); err != nil {
		if w.ctx.Err() != nil {
			return 0, nil
		}
		return 1, fmt.Errorf("run training: %w", err)
	}
	return 0, nil
}

// matmul measures each GPU of the pod, if the script does.
func (w *worker) matmul(out io.Writer, gpus []int) error {
	if !w.scripted("gpu matmul") {
		return nil
	}
	state := w.runtime.world.Recent()
	host, ok := state.Node(w.pod.Spec.NodeName)
	if !ok {
		return nil
	}
	var measured []training.GPU
	for _, i := range gpus {
		for _, g := range host.GPUs {
			if g.Index == i {
				measured = append(measured, training.GPU{
					UUID: g.UUID, TFLOPS: host.MatmulTFLOPS(g),
					PowerLimit: g.PowerLimit, PowerDefault: host.Hardware.GPU.TDPWatts, SMClock: float64(g.SMClock),
				})
			}
		}
	}
	return training.WriteMatmul(out, rankOf(w.pod)*len(gpus), measured, w.seed(state))
}

// scripted reports whether the container's command contains a text.
func (w *worker) scripted(text string) bool {
	return strings.Contains(strings.Join(slices.Concat(w.container.Command, w.container.Args), "\n"), text)
}

// checkpoint tests the directory for checkpoints, if the script does and a directory of the host is
// mounted there.
func (w *worker) checkpoint(out io.Writer) error {
	directory := w.env["CHECKPOINT_DIRECTORY"]
	mebibytes, ok := w.env.number("CHECKPOINT_MIB", 0)
	mounted := slices.ContainsFunc(w.container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == directory })
	if !w.scripted("checkpoint test") || !ok || !mounted {
		return nil
	}
	state := w.runtime.world.Recent()
	host, _ := state.Node(w.pod.Spec.NodeName)
	return training.WriteCheckpoint(out, training.Checkpoint{
		Storage: host.Hardware.Storage, Index: rankOf(w.pod), Directory: directory, MiB: mebibytes,
		FreeGiB: state.Training.CheckpointGiB, ReadOnly: host.CheckpointsReadOnly, Unmounted: host.CheckpointsUnmounted, Seed: w.seed(state),
	})
}

// speed is that of the pod's slowest GPU.
func speed(state world.State, m member) float64 {
	slowest := 1.0
	host, _ := state.Node(m.node)
	for _, g := range host.GPUs {
		if slices.Contains(m.gpus, g.Index) {
			slowest = min(slowest, g.Speed)
		}
	}
	return slowest
}

// slowness is the factor of a host's step times.
func slowness(state world.State, name string) float64 {
	host, ok := state.Node(name)
	if !ok {
		return 1
	}
	slow := max(host.StepFactor, 1)
	if f := host.ClockFactor(); f > 0 {
		slow /= f
	}
	return slow
}
