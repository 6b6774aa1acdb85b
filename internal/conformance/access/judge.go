package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// parts are what four containers see, that they ran at the same time, and what is
// refused to two pods.
const parts = 7

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	var k conclude.Conclusions
	node := judgePods(&k, obs)
	judgeAdmission(&k, obs)
	return k.Judgement(parts, fmt.Sprintf("on %s a container with a claim saw its GPU and no other; one beside it, a pod without a claim and one that asked for all GPUs saw none; "+
		"a host path and a privileged container were refused", node))
}

// judgePods judges what containers see, and says on which node.
func judgePods(k *conclude.Conclusions, obs []check.Observation) (node string) {
	_, all, ok := conclude.Only[[]offer.Slice](k, obs, kindSlices, "")
	if !ok {
		return ""
	}
	o, free, ok := conclude.Only[room](k, obs, kindRoom, "")
	if !ok {
		return ""
	}
	if free.Node == "" {
		k.Missing(o, "free GPUs", "no node of the inventory has a GPU that a claim could have"+offer.Holders(free.Rooms), "run the check when a GPU is free; what holds them is named here")
		return ""
	}
	j := pods{k: k, obs: obs, node: free.Node, seen: map[string]trial.Seen{}}
	if !j.see(claimant) {
		return free.Node
	}
	gpu, ok := j.judgeClaim(all)
	if !ok {
		return free.Node
	}
	j.judgeClaimed(gpu)
	j.judgeNothing(claimant+"/"+sibling, "a container that names no claim, beside one that does", gpu,
		free.Node+"/DRA driver", "look at which containers the DRA driver's CDI devices are put into; the container runtime must take them of the containers that name the claim only")
	one, other := j.see(bystander), j.see(asking)
	j.judgeNothing(bystander+"/"+looker, "a container without a claim", gpu,
		free.Node+"/container runtime", "see that the container runtime gives devices to containers only by claim or device plugin: the default runtime must not add all GPUs to every container")
	j.judgeNothing(asking+"/"+looker, "a container without a claim that sets NVIDIA_VISIBLE_DEVICES=all", gpu,
		free.Node+"/container toolkit", "set accept-nvidia-visible-devices-envvar-when-unprivileged = false in the container toolkit's config.toml on every GPU node")
	if one && other {
		j.judgeTogether()
	}
	return free.Node
}

// pods judges the pods of one node.
type pods struct {
	k    *conclude.Conclusions
	obs  []check.Observation
	node string
	seen map[string]trial.Seen
}

// see says whether a pod ran on the node.
func (j *pods) see(name string) bool {
	o, s, ok := conclude.Only[trial.Seen](j.k, j.obs, kindPod, name)
	if !ok {
		return false
	}
	pod := "pod " + s.Pod
	switch {
	case name == claimant && s.Claim != nil && !s.Claim.Allocated && s.Refused():
		j.k.Fail(o, "ResourceClaim of "+s.Pod, fmt.Sprintf("it was not allocated, with a GPU free on %s: %s", j.node, s.State()), "see what the scheduler says about the pod; the check dra_support looks closer")
	case !s.Runs():
		j.k.Missing(o, pod, "it does not run, so that it says nothing of what it sees: "+s.State(), "look at the events of the pod; its image is telemetry.loadImage of the site file")
	case s.Node != j.node:
		j.k.Missing(o, pod, fmt.Sprintf("it runs on %q, not on %s", s.Node, j.node), "run the check again")
	default:
		j.seen[name] = s
		return true
	}
	return false
}

// judgeClaim finds the GPU that was allocated.
func (j *pods) judgeClaim(all []offer.Slice) (offer.GPU, bool) {
	o, s, ok := conclude.Only[trial.Seen](j.k, j.obs, kindPod, claimant)
	if !ok {
		return offer.GPU{}, false
	}
	claim := "ResourceClaim of " + s.Pod
	const remedy = "see what allocates claims; the check dra_support looks closer"
	if s.Claim == nil || !s.Claim.Allocated || len(s.Claim.Devices) != 1 || !slices.Equal(s.Claim.ReservedFor, []string{s.UID}) {
		j.k.Fail(o, claim, fmt.Sprintf("the pod runs without exactly one device being allocated to its claim and reserved for it: %+v", s.Claim), remedy)
		return offer.GPU{}, false
	}
	d := s.Claim.Devices[0]
	gpu, found := offer.Find(all, j.node, d.Pool, d.Device)
	switch {
	case !found || d.Driver != offer.Driver:
		j.k.Fail(o, claim, fmt.Sprintf("device %s/%s/%s was allocated: it is none of the GPUs that driver %s offers on %s", d.Driver, d.Pool, d.Device, offer.Driver, j.node), remedy)
		return gpu, false
	case gpu.UUID == "":
		j.k.Missing(o, claim, fmt.Sprintf("the slice of device %s/%s says no uuid, so that it can't be told from others", d.Pool, d.Device), "see that the DRA driver is NVIDIA's, version 25 or newer")
		return gpu, false
	}
	return gpu, true
}

// sees is what a container saw; it must have been the pod that was judged.
func (j *pods) sees(target string) (check.Observation, Sight, bool) {
	name, _, _ := strings.Cut(target, "/")
	pod, ran := j.seen[name]
	if !ran {
		return check.Observation{}, Sight{}, false
	}
	o, s, ok := conclude.Only[sight](j.k, j.obs, kindSight, target)
	if ok && s.UID != pod.UID {
		j.k.Missing(o, "container "+target, "its log is another pod's", "run the check again")
		return o, Sight{}, false
	}
	return o, s.Sight, ok
}

// judgeClaimed: exactly the GPU that was allocated.
func (j *pods) judgeClaimed(gpu offer.GPU) {
	o, s, ok := j.sees(claimant + "/" + claimed)
	if !ok {
		return
	}
	suspect := j.node + "/DRA driver"
	const remedy = "look at the log of the DRA driver's kubelet plugin on the node, and at the CDI specification that it wrote for the claim"
	switch {
	case s.Tool == toolFailed:
		j.k.Missing(o, "container "+claimant+"/"+claimed, "nvidia-smi can't tell what it sees: "+s.ToolSays, "run nvidia-smi on "+j.node)
	case !s.Something():
		j.k.Fail(o, suspect, "a container with a claim sees no GPU: "+gpu.UUID+" was allocated", remedy)
	case !slices.Equal(s.UUIDs, []string{gpu.UUID}) || len(s.Files) != 1:
		j.k.Fail(o, suspect, fmt.Sprintf("a container with a claim sees %s; %s alone was allocated", said(s), gpu.UUID), remedy)
	default:
		j.k.Shown(check.Figure{Name: "GPUs seen with a claim", Value: float64(len(s.UUIDs)), Unit: "GPUs", Limit: 1, Relation: "==", Source: "one GPU was allocated"})
	}
}

// judgeNothing: no GPU at all.
func (j *pods) judgeNothing(target, who string, gpu offer.GPU, suspect, remedy string) {
	o, s, ok := j.sees(target)
	if !ok {
		return
	}
	switch {
	case s.Something():
		message := fmt.Sprintf("%s sees %s", who, said(s))
		if slices.Contains(s.UUIDs, gpu.UUID) {
			message += ", among them the one that is allocated to another"
		}
		j.k.Fail(o, suspect, message, remedy)
	case s.Nothing():
		j.k.Shown(check.Figure{Name: "GPUs seen by " + target, Value: 0, Unit: "GPUs", Limit: 0, Relation: "==", Source: "no claim"})
	default:
		j.k.Missing(o, "container "+target, "nvidia-smi can't tell what it sees: "+s.ToolSays, "run nvidia-smi on "+j.node)
	}
}

// said is what a container sees, for a person.
func said(s Sight) string {
	return fmt.Sprintf("%d GPUs (%s) and %d device files (%s)", len(s.UUIDs), strings.Join(s.UUIDs, ", "), len(s.Files), strings.Join(s.Files, ", "))
}
