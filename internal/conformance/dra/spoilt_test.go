package dra

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of claims and slices is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2}).Judge, healthy().observations(t), checktest.Harmless{
		"said twice is not more":                                            {`.* .(resources|containers): the first twice`},
		"one version of the two is v1":                                      {`served-versions.* .versions: .*`},
		"it names what is looked at, for people":                            {`device-class.* .name: .*`, `resource-slices.* .(name|generation|devices.name|devices.uuid|pool): .*`},
		"another node has free devices, too; rooms say why a node has none": {`free-devices.* .*: .*`},
		"earlier than the others, as it was":                                {`claim-with-a-pod@allocatable .at: (left out|10 h earlier)`, `claim-with-a-pod@allocatable, still .at: 10 h later`},
		"of a pod, where it is, that it runs and its claim count":           {`claim-with-a-pod@.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claim-with-a-pod@.* .claim.(name|uid): .*`, `claim-with-a-pod@.* .containers: (the first twice|without the last)`},
		"what was allocated is known from the first look":                   {`claim-with-a-pod@allocatable, still .(claim.devices.*|claim.reservedFor|node): .*`},
	})
}
