package dra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// judgeClaims judges both pods. Without a free GPU neither says anything.
func judgeClaims(k *conclude.Conclusions, obs []check.Observation, all []offer.Slice) {
	o, free, ok := conclude.Only[room](k, obs, kindRoom, "")
	if !ok {
		return
	}
	if len(free.Nodes) == 0 {
		if !k.Wrong() { // slices that are not there explain it
			k.Missing(o, "free GPUs", "no node of the inventory has a GPU that a claim could have"+offer.Holders(free.Rooms), "run the check when a GPU is free; what holds them is named here")
		}
		return
	}
	oCan, can, ok := conclude.Only[trial.Seen](k, obs, kindTrial, allocatable)
	if !ok {
		return
	}
	allocated := judgeAllocatable(k, oCan, can, free, all)
	oCannot, cannot, ok := conclude.Only[trial.Seen](k, obs, kindTrial, impossible)
	if ok && judgeImpossible(k, oCannot, cannot) && allocated {
		judgeTogether(k, obs, can, cannot)
	}
}

// judgeAllocatable is the positive half.
func judgeAllocatable(k *conclude.Conclusions, o check.Observation, s trial.Seen, free room, all []offer.Slice) bool {
	pod, claim := "pod "+s.Pod, "ResourceClaim of "+s.Pod
	switch {
	case s.Claim == nil:
		k.Fail(o, claim, "none was made from the pod's ResourceClaimTemplate", "see that kube-controller-manager runs its controller resourceclaim-controller")
		return false
	case !s.Claim.Allocated:
		k.Fail(o, claim, fmt.Sprintf("it was not allocated, with GPUs free on %s: %s", strings.Join(free.Nodes, ", "), s.State()), "see what the scheduler says about the pod")
		return false
	case s.Node == "" || !slices.Contains(free.Nodes, s.Node):
		k.Fail(o, pod, fmt.Sprintf("its claim is allocated, and it is bound to %q, not to one of %s", s.Node, strings.Join(free.Nodes, ", ")), "see that the scheduler has its plugin DynamicResources")
		return false
	case len(s.Claim.Devices) != 1:
		k.Fail(o, claim, fmt.Sprintf("one device was asked for, %d were allocated", len(s.Claim.Devices)), "see that the scheduler is of the API server's version")
		return false
	case !slices.Equal(s.Claim.ReservedFor, []string{s.UID}):
		k.Fail(o, claim, fmt.Sprintf("it is not reserved for the pod alone: for %v, the pod is %s", s.Claim.ReservedFor, s.UID), "see that the scheduler has its plugin DynamicResources")
		return false
	}
	d := s.Claim.Devices[0]
	if _, ok := offer.Find(all, s.Node, d.Pool, d.Device); !ok || d.Driver != offer.Driver {
		k.Fail(o, claim, fmt.Sprintf("device %s/%s/%s was allocated: it is none of the GPUs that driver %s offers on %s, where the pod is", d.Driver, d.Pool, d.Device, offer.Driver, s.Node),
			"see that DeviceClass "+offer.Driver+" selects that driver's GPUs only")
		return false
	}
	return judgeRuns(k, o, s)
}

// judgeRuns: the kubelet got the device from the driver, or the pod would not run.
func judgeRuns(k *conclude.Conclusions, o check.Observation, s trial.Seen) bool {
	switch {
	case s.Runs():
		k.Shown(check.Figure{Name: "claims allocated to a pod that runs", Value: 1, Unit: "claims", Limit: 1, Relation: "==", Source: "a GPU was free"})
		return true
	case strings.Contains(s.State(), "ImagePull"):
		k.Missing(o, "pod "+s.Pod, "its claim is allocated, but its image could not be pulled: "+s.State(), "set telemetry.loadImage in the site file to an image that the nodes can pull")
	default:
		k.Fail(o, "pod "+s.Pod, "its claim is allocated, and it does not run: "+s.State(), "look at the events of the pod and at the log of the DRA driver's kubelet plugin on "+s.Node)
	}
	return false
}

// judgeImpossible is the negative half.
func judgeImpossible(k *conclude.Conclusions, o check.Observation, s trial.Seen) bool {
	pod, claim := "pod "+s.Pod, "ResourceClaim of "+s.Pod
	const why = "see who allocates claims: the scheduler evaluates their selectors"
	switch {
	case s.Claim == nil:
		k.Missing(o, claim, "none was made from the pod's ResourceClaimTemplate", "see that kube-controller-manager runs its controller resourceclaim-controller")
	case s.Claim.Allocated:
		k.Fail(o, claim, fmt.Sprintf("no device meets it, and it was allocated: %v", s.Claim.Devices), why)
	case s.Node != "":
		k.Fail(o, pod, "its claim can't be allocated, and it is bound to "+s.Node, "see that the scheduler has its plugin DynamicResources")
	case s.Phase != "Pending":
		k.Fail(o, pod, "its claim can't be allocated, and it is not Pending: "+s.State(), why)
	case !s.Refused():
		k.Missing(o, pod, "the scheduler has said nothing about it", "look at the scheduler's log")
	case !strings.Contains(s.Scheduled.Message, "claim"):
		k.Missing(o, pod, "it was not refused for its claim: "+s.Scheduled.Message, "see what the scheduler says about the pod")
	default:
		return true
	}
	return false
}

// judgeTogether: the one was refused while the other was allocated, or waiting
// means nothing.
func judgeTogether(k *conclude.Conclusions, obs []check.Observation, can, cannot trial.Seen) {
	o, after, ok := conclude.Only[trial.Seen](k, obs, kindTrial, still)
	if !ok {
		return
	}
	same := after.UID == can.UID && after.Runs() && after.Claim != nil && after.Claim.Allocated && after.Claim.UID == can.Claim.UID
	if !same || cannot.At.Before(can.At) || after.At.Before(cannot.At) {
		k.Missing(o, "pod "+can.Pod, "it was not there any more with its claim when the other had been refused: "+after.State(), "run the check again")
		return
	}
	k.Shown(check.Figure{Name: "claims allocated that no device meets", Value: 0, Unit: "claims", Limit: 0, Relation: "==", Source: "its selector is true for no device"})
}
