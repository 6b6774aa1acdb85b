package controller

import (
	"fmt"
	"slices"
	"strings"
)

// victims are the pod that holds the lease, or all pods where none is known to.
func victims(before controllerFigures) []podState {
	if leader, known := leaderOf(before); known {
		return []podState{leader}
	}
	return before.Pods
}

// leaderOf is the pod that holds the lease.
func leaderOf(f controllerFigures) (leader podState, known bool) {
	if f.Lease == nil {
		return podState{}, false
	}
	// The holder is the pod's name, an underscore and a random part.
	i := slices.IndexFunc(f.Pods, func(p podState) bool { return strings.HasPrefix(f.Lease.Holder, p.Name+"_") })
	if i < 0 {
		return podState{}, false
	}
	return f.Pods[i], true
}

// noSuccessor is why after is not the successor of before; empty when it is.
func noSuccessor(before, after controllerFigures) string {
	if problem := unhealthy(after); problem != "" {
		return problem
	}
	if len(before.Pods) == 0 {
		if before.Lease == nil || after.Lease == nil {
			return "without a lease no successor can be identified"
		}
		if before.Lease.Holder == after.Lease.Holder {
			return "lease " + after.Lease.Name + " still has the holder " + after.Lease.Holder
		}
		return ""
	}
	for _, old := range victims(before) {
		for _, p := range after.Pods {
			if p.UID == old.UID {
				return "pod " + p.Name + " still exists"
			}
		}
	}
	if _, led := leaderOf(before); led {
		if _, leads := leaderOf(after); !leads || after.Lease.Holder == before.Lease.Holder {
			return "no pod of service " + after.Service + " holds lease " + before.Lease.Name
		}
	}
	return ""
}

// unhealthy is why a controller cannot serve and reconcile; empty when it can.
func unhealthy(f controllerFigures) string {
	if len(f.Pods) > 0 {
		for _, p := range f.Pods {
			if !p.Ready || p.Leaving {
				return fmt.Sprintf("pod %s is not ready: %s", p.Name, p.Phase)
			}
		}
		return ""
	}
	if f.Outside == "" {
		return "service " + f.Service + " has neither pods nor an external name"
	}
	switch {
	case f.Lease == nil:
		return "it is not a pod of the cluster, and no lease shows that it runs"
	case f.Lease.Holder == "":
		return "lease " + f.Lease.Name + " has no holder"
	case !f.Lease.Moved:
		return fmt.Sprintf("lease %s of %s was not renewed while watched", f.Lease.Name, f.Lease.Holder)
	}
	return ""
}
