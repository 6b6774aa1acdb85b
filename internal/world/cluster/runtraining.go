package cluster

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

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
	var places []training.Place
	for _, m := range members {
		places = append(places, training.Place{Node: m.node, GPUs: m.gpus})
	}
	job, err := training.Job{
		Framework: framework(w.container, w.env), Model: w.env["MODEL"], Steps: steps, Index: rankOf(w.pod), Seed: w.seed(state), Start: time.Now(),
	}.On(state, places)
	if err != nil {
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
	return training.Place{Node: w.pod.Spec.NodeName, GPUs: gpus}.Measure(out, state, rankOf(w.pod), w.seed(state))
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
	return training.Place{Node: w.pod.Spec.NodeName}.TestCheckpoints(out, state, rankOf(w.pod), directory, mebibytes, w.seed(state))
}
