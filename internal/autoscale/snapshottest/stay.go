package snapshottest

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// StaySetup is the setup of a chain whose replicas stay on existing nodes.
func StaySetup() snapshot.Setup {
	s := Setup()
	s.Pool = snapshot.PoolPlan{Stay: true, GPULimit: -1}
	s.Gang, s.GangWhy = 0, "replicas stay on existing nodes"
	return s
}

// Stay changes a state of the chain to one without new nodes: the replicas run on initial
// GPUs.
func Stay(st *snapshot.State) {
	for i := range st.Pods {
		if p := &st.Pods[i]; p.Role == snapshot.RoleWorker {
			p.Selector, p.Node = nil, fmt.Sprintf("gpu-%02d", i%2+1)
		}
	}
	st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool {
		return p.Role == snapshot.RoleZero || p.Role == snapshot.RoleGang || p.Role == snapshot.RoleShort
	})
	st.Pools, st.Claims, st.Nodes = nil, nil, nil
	st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.From == "karpenter" || e.Reason == "FailedScheduling" })
}
