package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// Supported frameworks.
const (
	Torchtitan = "torchtitan"
	Megatron   = "megatron"
)

// Node is one host of the job.
type Node struct {
	GPUs int
	// Slow is the factor of its step times; 1: healthy.
	Slow float64
}

// Job is one pod's part of a training job.
type Job struct {
	Figures   world.HardwareTraining
	MemoryGiB float64 // per GPU
	Framework string
	Model     string
	Steps     int
	Nodes     []Node
	// Index of this pod's node in Nodes.
	Index int
	Seed  uint64
	// MFUFactor of the whole job; 1: healthy.
	MFUFactor float64
	// StepJitter is the relative amplitude of step times; 0: healthy.
	StepJitter float64
	// NaNFrom is the first step with a NaN loss; 0: none. Every rank prints it, because the
	// printed loss is reduced over all ranks.
	NaNFrom int
	Start   time.Time
}

// Validate returns all problems.
func (j Job) Validate() error {
	var errs []error
	if j.Framework != Torchtitan && j.Framework != Megatron {
		errs = append(errs, fmt.Errorf("unknown framework %q: want one of %s, %s", j.Framework, Torchtitan, Megatron))
	}
	if j.Steps < 1 {
		errs = append(errs, fmt.Errorf("invalid number of steps %d: must be at least 1", j.Steps))
	}
	if j.Index < 0 || j.Index >= len(j.Nodes) {
		errs = append(errs, fmt.Errorf("invalid node index %d: the job has %d nodes", j.Index, len(j.Nodes)))
	} else if j.Nodes[j.Index].GPUs < 1 {
		errs = append(errs, errors.New("a node has no GPUs"))
	}
	if j.MFUFactor <= 0 || j.Figures.TokensPerGPUPerSecond <= 0 {
		errs = append(errs, errors.New("throughput is required"))
	}
	return errors.Join(errs...)
}

// Run prints the pod's ranks from start to end. Between steps it calls wait with the wall time of
// a step.
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

// ranks returns the pod's first global rank and the number of ranks.
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

// lines prints the lines of one framework for one rank.
type lines interface {
	begin(w io.Writer, rank int, at time.Time) error
	step(w io.Writer, rank, step int, at time.Time) error
	end(w io.Writer, rank int, at time.Time) error
}
