package dra

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

func TestNodesOfOneGPUAreJudged(t *testing.T) {
	t.Parallel()
	s := healthy()
	s.slices = []inventory.Slice{sliceOf("gpu-01", inventory.Driver, 1), sliceOf("gpu-02", inventory.Driver, 1)}
	s.can.Claim.Devices[0].Device = "gpu-0"
	if j := (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 1, products: []string{"NVIDIA H100 80GB HBM3"}}).Judge(s.observations(t)); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
