package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// The verdict depends on every field of the offers and the allocations, except for those that
// are listed here with the reason.
func TestEveryFieldOfVGPU(t *testing.T) {
	t.Parallel()
	const vgpu = "nvidia.com/GRID_A100-10C"
	obs := []check.Observation{
		observation(t, kindVirtualOffer, []virtualOffer{{Node: "gpu-01", Resources: map[string]int64{vgpu: 4}, What: map[string]string{vgpu: "a vGPU"}}, {Node: "gpu-02"}}),
		observation(t, kindAllocation, allocation{
			Resource: vgpu, More: 5, One: testpod.Status{Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}}},
			TooMany: testpod.Status{Phase: "Pending", Scheduled: testpod.Scheduled{Status: "False", Reason: "Unschedulable", Message: "Insufficient " + vgpu}},
		}),
	}
	checktest.EveryField(t, "spoilt-vgpu", (&VGPU{nodes: []string{"gpu-01", "gpu-02"}}).Judge, obs, checktest.Harmless{
		"a duplicate adds nothing":                  {`virtual-offer.* : the first twice`},
		"one node that offers one is enough":        {`virtual-offer.* (: without the last|.node: .*|.resources.*: .*|.what.*: .*)`},
		"it names the subject for the reader":       {`pods-with-a-resource.* .(more|resource): .*`},
		"of a pod, its node, phase and claim count": {`pods-with-a-resource.* .(one|tooMany).(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pods-with-a-resource.* .(one|tooMany).containers: (the first twice|without the last)`, `pods-with-a-resource.* .one.node: .*`},
		"a refused pod of any phase is not placed":  {`pods-with-a-resource.* .tooMany.(containers|phase|scheduled.message): .*`},
	})
}
