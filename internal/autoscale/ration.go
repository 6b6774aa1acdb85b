package autoscale

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/site"
)

// ration is who gets how many of the free GPUs.
type ration struct {
	// replica is what one replica holds, load what the load takes.
	replica, load int
	// turns: the holder and the load take turns on the one GPU that there is.
	turns bool
	// why replicas hold none, where they hold none.
	why string
}

// rationOf divides the free GPUs of the inventory: one for the holder, and the
// load's. Replicas that stay need theirs of the same GPUs; where there are too few
// for them at their most, they hold none, and the metric of the load alone is what
// they follow.
func rationOf(free int, a site.Autoscale, stay bool) ration {
	r := ration{replica: a.GPUsPerReplica, load: a.LoadGPUs, turns: free == 1}
	if stay {
		if room := free - 1 - a.MaxReplicas*a.GPUsPerReplica; room >= 1 {
			r.load = min(r.load, room)
			return r
		}
		r.why = fmt.Sprintf("the free GPUs are too few (%d) for the holder, the load and %d replicas of %d", free, a.MaxReplicas, a.GPUsPerReplica)
		r.replica = 0
	}
	switch {
	case free > 1:
		r.load = min(r.load, free-1)
	case r.turns:
		r.load = 1
	}
	return r
}
