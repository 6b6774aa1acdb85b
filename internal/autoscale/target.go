package autoscale

import (
	"math"

	"github.com/firstlight/firstlight/internal/profile"
)

// Shares of a GPU's power limit, where the profile has no figure.
const (
	idleShare = 0.15 // without work
	loadShare = 0.9  // under DCGM's tensor load, at least
)

// aboveIdle is how far above idle GPUs a target must be at least, so that their
// wobble scales nothing.
const aboveIdle = 1.5

// targetOf returns the target average of the HPA per replica, in W: with one idle GPU the HPA
// desires the minimum of replicas, and under load the maximum. The metric is an average over
// GPUs.
func targetOf(gpu profile.GPU, loadGPUs, least, most int) float64 {
	full := gpu.TDP.Value
	idle := full * idleShare
	if gpu.IdlePower != nil {
		idle = gpu.IdlePower.Value
	}
	loaded := (idle + float64(loadGPUs)*full*loadShare) / float64(loadGPUs+1)
	const middle = 0.5 // of the step to the most replicas: neither side is near
	target := max(loaded/(float64(most)-middle), aboveIdle*idle/float64(least))
	return math.Max(1, math.Floor(target))
}
