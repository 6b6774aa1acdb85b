package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// The verdict depends on every field of the offers of nodes and of the claim, except for those
// that are listed here with the reason.
func TestEveryFieldOfNetwork(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observation(t, kindNetworkOffer, withClass(offersOf(withDRA(), withDRA()))), observation(t, kindNetworkClaim, claimedDevice(dranet))}
	checktest.EveryField(t, "spoilt-network", (&Network{nodes: []string{"gpu-01", "gpu-02"}}).Judge, obs, checktest.Harmless{
		"a class of any name; the claim shows that it allocates devices": {`network-offer.* .classes.dra.net: another text`},
		"attributes are counted and named; devices exist":                {`network-offer.* .nodes.(attributes.*|devices.*|node): .*`},
		"a duplicate adds nothing":                                       {`network-offer.* .nodes: the first twice`},
		"of a pod, its node, phase and claim count":                      {`claimed-network.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claimed-network.* .claim.(name|uid): .*`, `claimed-network.* .containers: (the first twice|without the last)`, `claimed-network.* .(node|claim.devices.device|claim.devices.pool): .*`},
	})
}
