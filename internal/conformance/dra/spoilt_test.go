package dra

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of claims and slices, except for those
// that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2, products: []string{"NVIDIA H100 80GB HBM3"}}).Judge, healthy().observations(t), checktest.Harmless{
		"a duplicate adds nothing":                                            {`.* .(resources|containers): the first twice`},
		"one version of the two is v1":                                        {`served-versions.* .versions: .*`},
		"it names the subject for the reader":                                 {`device-class.* .name: .*`, `resource-slices.* .(name|generation|devices.name|pool): .*`, `resource-slices.* .devices.uuid: another text`},
		"another node has free devices as well; rooms explain a node without": {`free-devices.* .*: .*`},
		"still earlier than the others":                                       {`claim-with-a-pod@allocatable .at: (left out|10 h earlier)`, `claim-with-a-pod@allocatable, still .at: 10 h later`},
		"of a pod, its node, phase and claim count":                           {`claim-with-a-pod@.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claim-with-a-pod@.* .claim.(name|uid): .*`, `claim-with-a-pod@.* .containers: (the first twice|without the last)`},
		"the first observation has the allocation":                            {`claim-with-a-pod@allocatable, still .(claim.devices.*|claim.reservedFor|node): .*`},
	})
}
