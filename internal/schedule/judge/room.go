package judge

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// What the scheduler says of nodes that pods may be on, besides what they lack.
const (
	saysPods    = "Too many pods"
	saysPorts   = "free ports"
	saysAnti    = "anti-affinity rules"
	saysSpread  = "topology spread constraints"
	saysNoLabel = "missing required label"
)

// room adds to a refusal for want of something what is asked for, and what there is.
func (v *view) room(e expected, r Refusal) string {
	var parts []string
	for _, name := range r.Lacks() {
		asked, ok := e.workload.Pod.Requests[corev1.ResourceName(name)]
		if !ok {
			continue
		}
		most := asked.DeepCopy()
		most.Set(0)
		for _, node := range e.Nodes {
			if n := v.nodes[node]; n != nil {
				if q := n.Allocatable[corev1.ResourceName(name)]; q.Cmp(most) > 0 {
					most = q
				}
			}
		}
		parts = append(parts, fmt.Sprintf("a pod asks for %s %s, the largest node has %s", asked.String(), name, most.String()))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// makeRoom is what to do so that the nodes take the pods. That others than those
// which the pods may be on have a taint is as it should be.
func (v *view) makeRoom(e expected, r Refusal) string {
	profile := v.shapeOf(e.Class)
	switch {
	case len(r.Lacks()) > 0 && e.Component == snapshot.OwnerProbe:
		return fmt.Sprintf("correct extendedResources of the profile %s: what one pod asks for must fit", profile)
	case len(r.Lacks()) > 0:
		return fmt.Sprintf("lower the requests in the values of %s, or test on a larger node (profile %s)", e.Component, profile)
	case r.Says(saysPods) > 0:
		return fmt.Sprintf("raise resources.pods of the profile %s if its nodes take more, or its count", profile)
	case r.Says(saysPorts) > 0:
		return v.freePort(e)
	case r.Says(saysAnti) > 0:
		return fmt.Sprintf("run as many replicas as there are nodes for them (%d), or test on more nodes (count of the profile %s)", len(e.Nodes), profile)
	case r.Says(saysNoLabel) > 0:
		return fmt.Sprintf("give the nodes of the profile %s what the pods are spread over: zones, or a label", profile)
	case r.Says(saysSpread) > 0:
		return fmt.Sprintf("loosen its topologySpreadConstraints, or spread the nodes of the profile %s over more zones", profile)
	default:
		return "correct what the scheduler names: " + v.set(e, "node selector")
	}
}

// freePort names who has the host port that a workload wants.
func (v *view) freePort(e expected) string {
	for _, o := range v.expected {
		if o.id() == e.id() {
			continue
		}
		for _, port := range o.workload.Pod.HostPorts {
			if slices.Contains(e.workload.Pod.HostPorts, port) {
				return fmt.Sprintf("give it or %s another port: both want %d of a node", o.id(), port)
			}
		}
	}
	return "run one pod of it a node: they want the same port of it"
}
