package controller

import (
	"fmt"
	"strings"
)

// victims are the pod that holds the lease, or all pods where none is known to.
func victims(before controllerFigures) []podState {
	if before.Lease != nil {
		for _, p := range before.Pods {
			// The holder is the pod's name, an underscore and a random part.
			if strings.HasPrefix(before.Lease.Holder, p.Name+"_") {
				return []podState{p}
			}
		}
	}
	return before.Pods
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
