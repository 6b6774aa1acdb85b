package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// The verdict depends on every field of shared GPUs, except for those that are listed here with
// the reason.
func TestEveryFieldOfSharing(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt-sharing", (&Sharing{nodes: []string{"gpu-01"}}).Judge, healthySharing().observations(t), checktest.Harmless{
		"a duplicate adds nothing":                               {`.* : the first twice`, `.* .claim.reservedFor: the first twice`},
		"parts are offered and allocated, so capable is known":   {`shared-offer.* .(capable|node|parts.*): .*`},
		"one GPU with room is enough":                            {`free-devices.*: .*`},
		"the pod with a separate claim has another GPU, or none": {`claim-of-two-pods.* .alone.*: .*`},
		"one claim of one device; both pods run with it":         {`claim-of-two-pods.* .claim.(allocated|name|uid|devices.device|devices.driver|devices.pool): .*`},
		"of a pod, its node, phase and claim count":              {`claim-of-two-pods.* .pods.(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claim-of-two-pods.* .pods.containers: (the first twice|without the last)`, `pods-with-parts.* .pods.(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `pods-with-parts.* .pods.containers: (the first twice|without the last)`, `.* .pods.node: .*`},
		"it names the subject for the reader":                    {`pods-with-parts.* .(node|resource): .*`},
	})
}
