package dra

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

const (
	controllerRemedy = "see that kube-controller-manager runs its controller resourceclaim-controller"
	pluginRemedy     = "see that the scheduler has its plugin DynamicResources"
)

// judgeClaims judges both pods. Without a free GPU neither proves anything.
func judgeClaims(p *conformance.Parts, obs []check.Observation, all []inventory.Slice) {
	free, id, ok := conformance.Require[freeNodes](&p.Builder, obs, kindFree, "")
	if !ok {
		return
	}
	if len(free.Nodes) == 0 {
		if !p.HasFailed() { // missing slices explain it
			p.Unobserved(id, "free GPUs", "run the check when a GPU is free; the holders are in the message", "no node of the inventory has a GPU that a claim could get%s", inventory.DescribeHolders(free.GPUs))
		}
		return
	}
	can, canID, ok := conformance.Require[testpod.Status](&p.Builder, obs, kindPod, allocatable)
	if !ok {
		return
	}
	allocated := judgeAllocatable(p, canID, can, free, all)
	cannot, cannotID, ok := conformance.Require[testpod.Status](&p.Builder, obs, kindPod, impossible)
	if ok && judgeImpossible(p, cannotID, cannot) && allocated {
		judgeTogether(p, obs, can, cannot)
	}
}

// judgeAllocatable requires that the claim is allocated to the pod, which runs.
func judgeAllocatable(p *conformance.Parts, id string, s testpod.Status, free freeNodes, all []inventory.Slice) bool {
	pod, claim, nodes := "pod "+s.Pod, "ResourceClaim of "+s.Pod, strings.Join(free.Nodes, ", ")
	switch {
	case s.Claim == nil:
		p.Fail(id, claim, controllerRemedy, "none was created from the pod's ResourceClaimTemplate")
		return false
	case !s.Claim.Allocated:
		p.Fail(id, claim, "see the events of the scheduler for the pod", "it was not allocated, with GPUs free on %s: %s", nodes, s.Summary())
		return false
	case s.Node == "" || !slices.Contains(free.Nodes, s.Node):
		p.Fail(id, pod, pluginRemedy, "its claim is allocated, but it is bound to %q, want one of %s", s.Node, nodes)
		return false
	case len(s.Claim.Devices) != 1:
		p.Fail(id, claim, "see that the scheduler has the API server's version", "%d devices were allocated, want the one that it requests", len(s.Claim.Devices))
		return false
	case !slices.Equal(s.Claim.ReservedFor, []string{s.UID}):
		p.Fail(id, claim, pluginRemedy, "it is reserved for %v, want only the pod %s", s.Claim.ReservedFor, s.UID)
		return false
	}
	d := s.Claim.Devices[0]
	if _, ok := inventory.FindGPU(all, s.Node, d.Pool, d.Device); !ok || d.Driver != inventory.Driver {
		p.Fail(id, claim, "see that DeviceClass "+inventory.Driver+" selects only GPUs of that driver",
			"device %s/%s/%s was allocated, which is not a GPU of driver %s on the pod's node %s", d.Driver, d.Pool, d.Device, inventory.Driver, s.Node)
		return false
	}
	switch { // the kubelet gets the device from the driver, or the pod does not run
	case s.Running():
		p.Shown(check.Figure{Name: "claims allocated to a pod that runs", Value: 1, Unit: "claims", Limit: 1, Relation: "==", Source: "a GPU was free"})
		return true
	case s.ImagePullFailed():
		p.Unobserved(id, pod, testpod.ImageRemedy, "its claim is allocated, but its image cannot be pulled: %s", s.Summary())
	default:
		p.Fail(id, pod, "see the events of the pod and the log of the DRA driver's kubelet plugin on "+s.Node, "its claim is allocated, but it does not run: %s", s.Summary())
	}
	return false
}

// judgeImpossible requires that the claim stays unallocated and its pod unschedulable.
func judgeImpossible(p *conformance.Parts, id string, s testpod.Status) bool {
	pod, claim := "pod "+s.Pod, "ResourceClaim of "+s.Pod
	const remedy = "find the allocator of claims: the scheduler must evaluate their selectors"
	switch {
	case s.Claim == nil:
		p.Unobserved(id, claim, controllerRemedy, "none was created from the pod's ResourceClaimTemplate")
	case s.Claim.Allocated:
		p.Fail(id, claim, remedy, "no device matches it, but it was allocated: %v", s.Claim.Devices)
	case s.Node != "":
		p.Fail(id, pod, pluginRemedy, "its claim cannot be allocated, but it is bound to %s", s.Node)
	case s.Phase != "Pending":
		p.Fail(id, pod, remedy, "its claim cannot be allocated, but it is not Pending: %s", s.Summary())
	case !s.Unschedulable():
		p.Unobserved(id, pod, "see the scheduler's log", "the scheduler has not decided about it")
	case !strings.Contains(s.Scheduled.Message, "claim"):
		p.Unobserved(id, pod, "see the events of the scheduler for the pod", "it is not unschedulable because of its claim: %s", s.Scheduled.Message)
	default:
		return true
	}
	return false
}

// judgeTogether requires that the first pod still had its claim when the second was
// unschedulable: a pending pod proves nothing unless the scheduler allocates claims.
func judgeTogether(p *conformance.Parts, obs []check.Observation, can, cannot testpod.Status) {
	after, id, ok := conformance.Require[testpod.Status](&p.Builder, obs, kindPod, allocatableAgain)
	if !ok {
		return
	}
	same := after.UID == can.UID && after.Running() && after.Claim != nil && after.Claim.Allocated && after.Claim.UID == can.Claim.UID
	if !same || cannot.At.Before(can.At) || after.At.Before(cannot.At) {
		p.Unobserved(id, "pod "+can.Pod, "run the check again", "it no longer had its claim when the other pod was unschedulable: %s", after.Summary())
		return
	}
	p.Shown(check.Figure{Name: "claims allocated that no device matches", Value: 0, Unit: "claims", Limit: 0, Relation: "==", Source: "its selector is true for no device"})
}
