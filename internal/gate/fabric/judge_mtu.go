package fabric

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
)

const remedyMTU = "compare the port's MTU with its neighbour's (smpquery portinfo: MtuCap, NeighborMTU), correct the port or the subnet manager's limit, then run again: firstlight accept --from fabric"

// judgeMTU requires the same active MTU on all ports: a smaller one limits every path to the
// port or drops packets.
func judgeMTU(b *check.Builder, adapters []adapter) {
	var samples []uniform.Sample
	for _, a := range adapters {
		if a.unobserved || !a.active() {
			continue // reported for the host or the port
		}
		bytes, err := a.mtu()
		if err != nil {
			b.Unobserved(a.verbsObs.ID, a.name, remedyVerbs, "%v", err)
			continue
		}
		samples = append(samples, uniform.Sample{Adapter: a.name, Value: strconv.Itoa(bytes) + " bytes", Observation: a.verbsObs})
	}
	uniform.Require(b, samples, "active MTU", "ports", remedyMTU)
}
