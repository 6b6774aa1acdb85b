package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what nodes offer and a claim got is demanded, or it is said here why not.
func TestEveryFieldOfNetwork(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observation(t, kindNetworkOffer, withClass(offersOf(withDRA(), withDRA()))), observation(t, kindNetworkClaim, claimedDevice(dranet))}
	checktest.EveryField(t, "spoilt-network", (&Network{nodes: []string{"gpu-01", "gpu-02"}}).Judge, obs, checktest.Harmless{
		"a class, whatever its name; the claim shows that it gives devices": {`network-offer.* .classes.dra.net: another text`},
		"attributes are counted and named; devices are there":               {`network-offer.* .nodes.(attributes.*|devices.*|node): .*`},
		"said twice is not more":                                            {`network-offer.* .nodes: the first twice`},
		"of a pod, where it is, that it runs and its claim count":           {`claimed-network.* .(at|uid|pod|containers.name|containers.restarts|containers.since|scheduled|scheduled.status): .*`, `claimed-network.* .claim.(name|uid): .*`, `claimed-network.* .containers: (the first twice|without the last)`, `claimed-network.* .(node|claim.devices.device|claim.devices.pool): .*`},
	})
}
