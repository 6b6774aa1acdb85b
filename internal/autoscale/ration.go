package autoscale

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/site"
)

// ration is who gets how many of the free GPUs.
type ration struct {
	// replica is what one replica holds, load what the load takes.
	replica, load int
	// least and most replicas.
	least, most int
	// turns: the holder and the load take turns on the one GPU that there is.
	turns bool
	// why replicas hold none, where they hold none.
	why string
}

// rationOf divides the free GPUs of the inventory: one for the holder, and the
// load's. Replicas that stay need theirs of the same GPUs: with few of them the
// replicas become fewer, at least from 1 to 2, then hold 1 GPU each, then none,
// and the verdict says why.
func rationOf(free int, a site.Autoscale, stay bool) ration {
	r := ration{replica: a.GPUsPerReplica, load: a.LoadGPUs, least: a.MinReplicas, most: a.MaxReplicas, turns: free == 1}
	if stay {
		for _, smaller := range []ration{r, {replica: a.GPUsPerReplica, least: 1, most: 2}, {replica: 1, least: 1, most: 2}} {
			if room := free - 1 - smaller.most*smaller.replica; room >= 1 {
				smaller.load = min(r.load, room)
				return smaller
			}
		}
		r.why = fmt.Sprintf("the free GPUs are too few (%d) for the holder, the load and 2 replicas of 1", free)
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
