package training

import (
	"fmt"
	"io"
	"slices"

	"github.com/firstlight/firstlight/internal/world"
)

// Place is a host of a job, with the GPUs that the job has there.
type Place struct {
	Node string
	GPUs []int
}

// On is the job on hosts of a world, in the order of their index, with the faults of the world.
func (j Job) On(state world.State, places []Place) (Job, error) {
	if j.Index < 0 || j.Index >= len(places) {
		return j, fmt.Errorf("invalid node index %d: the job has %d nodes", j.Index, len(places))
	}
	host, _ := state.Node(places[j.Index].Node)
	j.Figures, j.MemoryGiB = host.Hardware.Training, float64(host.Hardware.GPU.MemoryMiB)/1024
	j.MFUFactor, j.StepJitter, j.NaNFrom = state.Training.MFUFactor, state.Training.StepJitter, state.Training.NaNFrom
	j.Nodes = nil
	slowest := 1.0
	for _, p := range places {
		j.Nodes = append(j.Nodes, Node{GPUs: len(p.GPUs), Slow: slowness(state, p.Node)})
		slowest = min(slowest, p.speed(state))
	}
	j.MFUFactor *= slowest // ranks synchronize in every layer
	return j, j.Validate()
}

// speed is that of the slowest GPU.
func (p Place) speed(state world.State) float64 {
	slowest := 1.0
	host, _ := state.Node(p.Node)
	for _, g := range host.GPUs {
		if slices.Contains(p.GPUs, g.Index) {
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

// Measure prints the measurement of the GPUs of a place, the index-th of the job.
func (p Place) Measure(w io.Writer, state world.State, index int, seed uint64) error {
	host, ok := state.Node(p.Node)
	if !ok {
		return nil
	}
	var measured []GPU
	for _, i := range p.GPUs {
		for _, g := range host.GPUs {
			if g.Index == i {
				measured = append(measured, GPU{
					UUID: g.UUID, TFLOPS: host.MatmulTFLOPS(g),
					PowerLimit: g.PowerLimit, PowerDefault: host.Hardware.GPU.TDPWatts, SMClock: float64(g.SMClock),
				})
			}
		}
	}
	return WriteMatmul(w, index*len(p.GPUs), measured, seed)
}

// TestCheckpoints prints the test of the directory for checkpoints on a place, the index-th of the job.
func (p Place) TestCheckpoints(w io.Writer, state world.State, index int, directory string, mebibytes int, seed uint64) error {
	host, _ := state.Node(p.Node)
	return WriteCheckpoint(w, Checkpoint{
		Storage: host.Hardware.Storage, Index: index, Directory: directory, MiB: mebibytes,
		FreeGiB: state.Training.CheckpointGiB, ReadOnly: host.CheckpointsReadOnly, Unmounted: host.CheckpointsUnmounted, Seed: seed,
	})
}
