package sharing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no nodes")
	}
	var a standing.Account
	offered, id, ok := standing.Read[[]nodeOffer](&a, obs, kindOffer)
	if !ok {
		return a.Judgement()
	}
	if len(offered) == 0 {
		a.Unseen(id, "nodes", "none of the inventory's is there", "correct the site's inventory")
		return a.Judgement()
	}
	judgeParts(&a, id, obs, offered)
	free, freeID, ok := standing.Read[rooms](&a, obs, kindRoom)
	switch {
	case !ok:
	case len(offer.WithRoom(free, 1)) == 0:
		a.Unseen(freeID, "free GPUs", "no node of the inventory has a GPU that a claim could have"+offer.Holders(free), "run the check when a GPU is free; what holds them is named here")
	default:
		judgeShared(&a, obs)
	}
	return a.Judgement()
}

// judgeShared: two pods have one GPU by one claim, and no third has it.
func judgeShared(a *standing.Account, obs []check.Observation) {
	s, id, ok := standing.Read[shared](a, obs, kindShared)
	if !ok {
		return
	}
	const remedy = "see what the scheduler and the log of the DRA driver's kubelet plugin say about the pods"
	if len(s.Pods) != len(sharers()) {
		a.Unseen(id, "pods", fmt.Sprintf("%d of %d were seen", len(s.Pods), len(sharers())), "run the check again")
		return
	}
	var uids []string
	for _, p := range s.Pods {
		if strings.Contains(p.State(), "ImagePull") {
			a.Unseen(id, "pod "+p.Pod, "its image could not be pulled: "+p.State(), "set telemetry.loadImage in the site file to an image that the nodes can pull")
			return
		}
		if !p.Runs() {
			a.Lacks(id, "pod "+p.Pod, "it shares a claim, and does not run: "+p.State(), remedy)
			return
		}
		uids = append(uids, p.UID)
	}
	missing := slices.DeleteFunc(uids, func(uid string) bool { return slices.Contains(s.Claim.ReservedFor, uid) })
	switch {
	case len(s.Claim.Devices) != 1:
		a.Lacks(id, "ResourceClaim "+s.Claim.Name, fmt.Sprintf("it holds %d devices, not one", len(s.Claim.Devices)), remedy)
	case len(missing) > 0:
		a.Lacks(id, "ResourceClaim "+s.Claim.Name, "it is not reserved for both pods", remedy)
	case has(s.Alone, s.Claim.Devices[0]):
		a.Lacks(id, "pod "+s.Alone.Pod, "it was given the shared GPU by a claim of its own: what is shared is nobody's choice", "see who allocates claims")
	case !s.Alone.Refused() && (s.Alone.Claim == nil || !s.Alone.Claim.Allocated):
		a.Unseen(id, "pod "+s.Alone.Pod, "the pod beside them was neither placed nor refused: "+s.Alone.State(), "look at the scheduler's log")
	default:
		d := s.Claim.Devices[0]
		a.Has("two pods shared %s of %s by one claim through DRA, and one with a claim of its own did not have it", d.Device, d.Pool)
	}
}

// has says that a pod's claim holds a device.
func has(s trial.Seen, d trial.Device) bool {
	return s.Claim != nil && slices.Contains(s.Claim.Devices, d)
}

// judgeParts: what can be partitioned is offered in parts, and they are given out.
func judgeParts(a *standing.Account, id string, obs []check.Observation, offered []nodeOffer) {
	var capable, offering []string
	two := false
	for _, o := range offered {
		if o.Capable {
			capable = append(capable, o.Node)
		}
		if o.offers() {
			offering = append(offering, o.Node)
		}
		for _, n := range o.Parts {
			two = two || n > 1
		}
	}
	switch {
	case len(offering) == 0 && len(capable) == 0: // nothing that could be offered in parts
	case len(offering) == 0:
		a.Lacks(id, "partitions", fmt.Sprintf("GPUs of %d nodes can be partitioned (%s), and no node offers a part of one, by MIG, time-slicing, MPS or DRA", len(capable), labelCapable),
			"let the GPU Operator's MIG manager partition a node (label nvidia.com/mig.config), or set up time-slicing or MPS")
	case !two:
		a.Lacks(id, "partitions", fmt.Sprintf("%s offer parts of GPUs, and none of them two of a kind that pods can ask for as a resource: it was not tried", strings.Join(offering, ", ")), "offer MIG slices, or replicas, as resources")
	default:
		judgeGiven(a, obs)
	}
}

func judgeGiven(a *standing.Account, obs []check.Observation) {
	p, id, ok := standing.Read[parts](a, obs, kindParts)
	if !ok {
		return
	}
	running := 0
	for _, s := range p.Pods {
		switch {
		case s.Runs():
			running++
		case strings.Contains(s.State(), "ImagePull"):
			a.Unseen(id, "pod "+s.Pod, "its image could not be pulled: "+s.State(), "set telemetry.loadImage in the site file to an image that the nodes can pull")
			return
		case s.Refused():
			a.Unseen(id, "pod "+s.Pod, "no "+p.Resource+" was free on "+p.Node+": "+s.State(), "run the check when two are free")
			return
		default:
			a.Lacks(id, "pod "+s.Pod, "it asks for a "+p.Resource+", and does not run: "+s.State(), "look at the events of the pod")
		}
	}
	if running == 2 {
		a.Has("two pods ran with a %s each on %s", p.Resource, p.Node)
	}
}
