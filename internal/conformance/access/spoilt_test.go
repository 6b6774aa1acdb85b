package access

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of the observations of pods, except for
// those that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01"}}).Judge, healthy().observations(t), checktest.Harmless{
		"GPUs are identified by UUID; check dra_support judges the other fields of a slice": {`resource-slices.*: .*`},
		"only the chosen node counts; the rest is explanation":                              {`free-devices.* .rooms.*: .*`},
		"pod security has its own messages":                                                 {`admission@privileged .message: another text`, `admission@privileged .reason: .*`},
		"JSON omits zero and false":                                                         {`admission@privileged .taken: left out`, `devices-seen@asking/looker .(files|uuids): left out`},
		"of a pod, its node, phase and claim count":                                         {`pod@.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pod@.* .claim.(name|uid): .*`, `pod@.* .containers: (the first twice|without the last)`, `pods-together.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pods-together.* .claim.(name|uid): .*`, `pods-together.* .containers: (the first twice|without the last)`},
		"a duplicate adds nothing":                                                          {`pods-together.* : the first twice`},
		"a file of any name is one GPU; the UUID identifies it":                             {`devices-seen@claimant/claimed .(files|tool): .*`},
		"the first observation has the allocation":                                          {`pods-together.* .(claim.*|node): .*`},
	})
}
