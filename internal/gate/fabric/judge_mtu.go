package fabric

import "strconv"

const remedyMTU = "compare the port's MTU with its neighbour's (smpquery portinfo: MtuCap, NeighborMTU), correct the port or the subnet manager's limit, then walk again: firstlight accept --from fabric"

// judgeMTU demands one active MTU of all ports: a port with a smaller one makes every path
// to it smaller, or loses what is sent to it.
func judgeMTU(v *verdict, adapters []adapter) {
	var samples []sample
	for _, a := range adapters {
		if a.unobserved || !a.active() {
			continue // reported for the host or the port
		}
		bytes, err := a.mtu()
		if err != nil {
			v.miss(a.verbsObs, a.name, err.Error(), remedyVerbs)
			continue
		}
		samples = append(samples, sample{a.name, strconv.Itoa(bytes) + " bytes", a.verbsObs})
	}
	v.uniform(samples, "active MTU", "ports", remedyMTU)
}
