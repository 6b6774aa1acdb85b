package access

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field is demanded of what pods see, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01"}}).Judge, healthy().observations(t), checktest.Harmless{
		"GPUs are told apart by UUID; what else a slice says is for the check dra_support": {`resource-slices.*: .*`},
		"the node that was chosen counts; the rest says why":                               {`free-devices.* .rooms.*: .*`},
		"pod security says so in its own words":                                            {`admission@privileged .message: another text`, `admission@privileged .reason: .*`},
		"zero and false are what is left out in JSON":                                      {`admission@privileged .taken: left out`, `devices-seen@asking/looker .(files|uuids): left out`},
		"of a pod, where it is, that it runs and its claim count":                          {`pod@.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pod@.* .claim.(name|uid): .*`, `pod@.* .containers: (the first twice|without the last)`, `pods-together.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pods-together.* .claim.(name|uid): .*`, `pods-together.* .containers: (the first twice|without the last)`},
		"said twice is not more":                                                           {`pods-together.* : the first twice`},
		"one file is one GPU, whatever its name; the UUID says which":                      {`devices-seen@claimant/claimed .(files|tool): .*`},
		"what was allocated is known from the first look":                                  {`pods-together.* .(claim.*|node): .*`},
	})
}
