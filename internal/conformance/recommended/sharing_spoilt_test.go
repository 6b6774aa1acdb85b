package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what is shared is demanded, or it is said here why not.
func TestEveryFieldOfSharing(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt-sharing", (&Sharing{nodes: []string{"gpu-01"}}).Judge, healthySharing().observations(t), checktest.Harmless{
		"said twice is not more":                                    {`.* : the first twice`, `.* .claim.reservedFor: the first twice`},
		"parts are offered and given out, so that capable is known": {`shared-offer.* .(capable|node|parts.*): .*`},
		"one GPU with room is enough":                               {`free-devices.*: .*`},
		"the pod beside them has another GPU, or none":              {`claim-of-two-pods.* .alone.*: .*`},
		"the claim is one, of one device; both pods run with it":    {`claim-of-two-pods.* .claim.(allocated|name|uid|devices.device|devices.driver|devices.pool): .*`},
		"of a pod, where it is, that it runs and its claim count":   {`claim-of-two-pods.* .pods.(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claim-of-two-pods.* .pods.containers: (the first twice|without the last)`, `pods-with-parts.* .pods.(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pods-with-parts.* .pods.containers: (the first twice|without the last)`, `.* .pods.node: .*`},
		"it names what is looked at, for people":                    {`pods-with-parts.* .(node|resource): .*`},
		"one pod with a part is enough":                             {`pods-with-parts.* .pods: .*`},
	})
}
