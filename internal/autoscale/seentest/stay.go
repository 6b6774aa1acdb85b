package seentest

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
)

// StaySetup is that of the chain whose replicas stay on the nodes that are there.
func StaySetup() seen.Setup {
	s := Setup()
	s.Pool = seen.PoolPlan{Stay: true, GPULimit: -1}
	s.Gang, s.GangWhy = 0, "replicas stay on the nodes that are there"
	return s
}

// Stay makes a state of the chain one in which no node came: the replicas are on
// GPUs that were there.
func Stay(st *seen.State) {
	for i := range st.Pods {
		if p := &st.Pods[i]; p.Role == seen.RoleWorker {
			p.Selector, p.Node = nil, fmt.Sprintf("gpu-%02d", i%2+1)
		}
	}
	st.Pods = slices.DeleteFunc(st.Pods, func(p seen.Pod) bool {
		return p.Role == seen.RoleZero || p.Role == seen.RoleGang || p.Role == seen.RoleShort
	})
	st.Pools, st.Claims, st.Nodes = nil, nil, nil
	st.Events = slices.DeleteFunc(st.Events, func(e seen.Event) bool { return e.From == "karpenter" || e.Reason == "FailedScheduling" })
}
