package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// Frameworks whose lines are known.
const (
	Torchtitan = "torchtitan"
	Megatron   = "megatron"
)

// Node is one host of the job.
type Node struct {
	GPUs int
	// Slow is the factor (1: healthy) that its steps take longer.
	Slow float64
}

// Job is one pod's part of a training job.
type Job struct {
	Figures   world.HardwareTraining
	MemoryGiB float64 // of a GPU
	Framework string
	Model     string
	Steps     int
	Nodes     []Node
	// Index of this pod's node among Nodes.
	Index int
	Seed  uint64
	// MFUFactor of the whole job; 1 is healthy.
	MFUFactor float64
	// StepJitter is the relative amplitude by which steps vary; 0 is healthy.
	StepJitter float64
	// NaNFrom is the first step whose loss is no number; 0 is none. Every rank
	// prints it: the loss that is printed is reduced over all.
	NaNFrom int
	Start   time.Time
}

// Validate says what is missing for a run.
func (j Job) Validate() error {
	var errs []error
	if j.Framework != Torchtitan && j.Framework != Megatron {
		errs = append(errs, fmt.Errorf("framework %q: there are %s and %s", j.Framework, Torchtitan, Megatron))
	}
	if j.Steps < 1 {
		errs = append(errs, fmt.Errorf("%d steps: want at least 1", j.Steps))
	}
	if j.Index < 0 || j.Index >= len(j.Nodes) {
		errs = append(errs, fmt.Errorf("node %d of %d", j.Index, len(j.Nodes)))
	} else if j.Nodes[j.Index].GPUs < 1 {
		errs = append(errs, errors.New("a node without GPUs"))
	}
	if j.MFUFactor <= 0 || j.Figures.TokensPerGPUPerSecond <= 0 {
		errs = append(errs, errors.New("no throughput"))
	}
	return errors.Join(errs...)
}

// Run prints the pod's ranks from their start to their end. Between steps it
// calls wait with the wall time a step is to take.
func (j Job) Run(ctx context.Context, w io.Writer, wait func(context.Context, time.Duration) error) error {
	if err := j.Validate(); err != nil {
		return fmt.Errorf("start training: %w", err)
	}
	m := newModel(j)
	first, count := j.ranks()
	var p lines
	if j.Framework == Megatron {
		p = megatronLines{job: j, model: m}
	} else {
		p = torchtitanLines{job: j, model: m}
	}
	at := j.Start
	for rank := first; rank < first+count; rank++ {
		if err := p.begin(w, rank, at); err != nil {
			return fmt.Errorf("write training output: %w", err)
		}
	}
	for step := 1; step <= j.Steps; step++ {
		if err := wait(ctx, time.Duration(j.Figures.WallSecondsPerStep*float64(time.Second))); err != nil {
			return err
		}
		at = at.Add(m.wall(step))
		for rank := first; rank < first+count; rank++ {
			if err := p.step(w, rank, step, at); err != nil {
				return fmt.Errorf("write training output: %w", err)
			}
		}
	}
	for rank := first; rank < first+count; rank++ {
		if err := p.end(w, rank, at); err != nil {
			return fmt.Errorf("write training output: %w", err)
		}
	}
	return nil
}

// ranks are this pod's global ranks: the first and how many.
func (j Job) ranks() (first, count int) {
	for _, n := range j.Nodes[:j.Index] {
		first += n.GPUs
	}
	return first, j.Nodes[j.Index].GPUs
}

func (j Job) worldSize() int {
	n := 0
	for _, node := range j.Nodes {
		n += node.GPUs
	}
	return n
}

// lines prints one framework's lines of one rank.
type lines interface {
	begin(w io.Writer, rank int, at time.Time) error
	step(w io.Writer, rank, step int, at time.Time) error
	end(w io.Writer, rank int, at time.Time) error
}
