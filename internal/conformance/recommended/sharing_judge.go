package recommended

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// Judge implements check.Check.
func (c *Sharing) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return noInventory()
	}
	var a assessment
	offers, id, ok := requireOffers[sharedOffer](&a, obs, kindSharedOffer)
	if !ok {
		return a.judgement()
	}
	judgeParts(&a, id, obs, offers)
	free, freeID, ok := require[[]inventory.NodeGPUs](&a, obs, kindFree, "")
	switch {
	case !ok:
	case len(inventory.NodesWithFree(free, 1)) == 0:
		a.unknown(freeID, "free GPUs", "run the check when a GPU is free; the holders are in the message", "no node of the inventory has a GPU that a claim could get%s", inventory.DescribeHolders(free))
	default:
		judgeShared(&a, obs)
	}
	return a.judgement()
}

// judgeShared requires that two pods share one GPU by one claim, and that a third has another.
func judgeShared(a *assessment, obs []check.Observation) {
	s, id, ok := require[sharedClaim](a, obs, kindShared, "")
	if !ok {
		return
	}
	const remedy = "see the events of the pods and the log of the DRA driver's kubelet plugin"
	claim, alone := "ResourceClaim "+s.Claim.Name, "pod "+s.Alone.Pod
	for _, p := range s.Pods {
		switch {
		case p.ImagePullFailed():
			a.unknown(id, "pod "+p.Pod, testpod.ImageRemedy, "cannot pull its image: %s", p.Summary())
			return
		case !p.Running():
			a.unmet(id, "pod "+p.Pod, remedy, "shares a claim but does not run: %s", p.Summary())
			return
		}
	}
	if !observedTwo(a, id, "pods that share a claim", s.Pods) {
		return
	}
	unreserved := slices.ContainsFunc(s.Pods, func(p testpod.Status) bool { return !slices.Contains(s.Claim.ReservedFor, p.UID) })
	switch {
	case len(s.Claim.Devices) != 1:
		a.unmet(id, claim, remedy, "it has %d devices, want one", len(s.Claim.Devices))
	case unreserved:
		a.unmet(id, claim, remedy, "it is not reserved for both pods")
	case s.Alone.Claim != nil && slices.Contains(s.Alone.Claim.Devices, s.Claim.Devices[0]):
		a.unmet(id, alone, "find the allocator of claims", "it got the shared GPU by a claim of its own, without asking to share it")
	case !s.Alone.Unschedulable() && (s.Alone.Claim == nil || !s.Alone.Claim.Allocated):
		a.unknown(id, alone, "see the scheduler's log", "the pod with its own claim was neither placed nor unschedulable: %s", s.Alone.Summary())
	default:
		d := s.Claim.Devices[0]
		a.met("two pods shared %s of %s by one claim through DRA, and a pod with a claim of its own did not get it", d.Device, d.Pool)
	}
}

// judgeParts requires that GPUs that can be partitioned are offered in parts that pods get.
func judgeParts(a *assessment, id string, obs []check.Observation, offers []sharedOffer) {
	var capable, offering []string
	two := false
	for _, o := range offers {
		if o.Capable {
			capable = append(capable, o.Node)
		}
		if o.any() {
			offering = append(offering, o.Node)
		}
		for _, n := range o.Parts {
			two = two || n > 1
		}
	}
	switch {
	case len(offering) == 0 && len(capable) == 0: // no GPU can be partitioned
	case len(offering) == 0:
		a.unmet(id, "partitions", "partition a node with the GPU Operator's MIG manager (label nvidia.com/mig.config), or configure time-slicing or MPS",
			"GPUs of %d nodes can be partitioned (%s), but no node offers a part by MIG, time-slicing, MPS or DRA", len(capable), labelCapable)
	case !two:
		a.unmet(id, "partitions", "offer MIG slices or replicas as extended resources", "%s offer parts of GPUs, but not two of one extended resource: parts were not tested", strings.Join(offering, ", "))
	default:
		judgePartPods(a, obs)
	}
}

func judgePartPods(a *assessment, obs []check.Observation) {
	p, id, ok := require[partPods](a, obs, kindParts, "")
	if !ok {
		return
	}
	running := 0
	for _, s := range p.Pods {
		switch {
		case s.Running():
			running++
		case s.ImagePullFailed():
			a.unknown(id, "pod "+s.Pod, testpod.ImageRemedy, "cannot pull its image: %s", s.Summary())
			return
		case s.Unschedulable():
			a.unknown(id, "pod "+s.Pod, "run the check when two are free", "no %s is free on %s: %s", p.Resource, p.Node, s.Summary())
			return
		default:
			a.unmet(id, "pod "+s.Pod, "see the events of the pod", "requests a %s but does not run: %s", p.Resource, s.Summary())
		}
	}
	if observedTwo(a, id, "pods with a "+p.Resource, p.Pods) && running == len(p.Pods) {
		a.met("two pods ran with a %s each on %s", p.Resource, p.Node)
	}
}

// observedTwo requires two different pods: one pod shares nothing.
func observedTwo(a *assessment, id, suspect string, pods []testpod.Status) bool {
	const want = 2
	uids := map[string]bool{}
	for _, p := range pods {
		if p.UID != "" {
			uids[p.UID] = true
		}
	}
	if len(pods) == want && len(uids) == want {
		return true
	}
	a.unknown(id, suspect, "run the check again", "%d of %d were observed", len(uids), want)
	return false
}
