package vgpu

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/giving"
)

// Every field of what is offered and given out is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	const vgpu = "nvidia.com/GRID_A100-10C"
	obs := []check.Observation{
		observation(t, kindOffer, []nodeOffer{{Node: "gpu-01", Resources: map[string]int64{vgpu: 4}, What: map[string]string{vgpu: "a vGPU"}}, {Node: "gpu-02"}}),
		observation(t, giving.Kind, giving.Tried{
			Resource: vgpu, More: 5, One: trial.Seen{Node: "gpu-01", Phase: "Running", Containers: []trial.Started{{Running: true}}},
			TooMany: trial.Seen{Phase: "Pending", Scheduled: trial.Scheduled{Status: "False", Reason: "Unschedulable", Message: "Insufficient " + vgpu}},
		}),
	}
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01", "gpu-02"}}).Judge, obs, checktest.Harmless{})
}
