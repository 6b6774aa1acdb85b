package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// parts: the devices in four containers, the proof that they ran at the same time, and two refused pods.
const parts = 7

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	var p conformance.Parts
	node := judgePods(&p, obs)
	judgeAdmission(&p, obs)
	return p.Judgement(parts, fmt.Sprintf("on %s a container with a claim saw its GPU and no other; another container of its pod, a pod without a claim and a pod that requests all GPUs saw none; "+
		"a host path and a privileged container were refused", node))
}

// judgePods judges what containers see, and returns their node if it could judge them.
func judgePods(p *conformance.Parts, obs []check.Observation) (node string) {
	all, _, ok := conformance.Require[[]inventory.Slice](&p.Builder, obs, kindSlices, "")
	if !ok {
		return ""
	}
	free, id, ok := conformance.Require[freeNode](&p.Builder, obs, kindFree, "")
	if !ok {
		return ""
	}
	if free.Node == "" {
		p.Unobserved(id, "free GPUs", "run the check when a GPU is free; the holders are in the message", "no node of the inventory has a GPU that a claim could get%s", inventory.DescribeHolders(free.GPUs))
		return ""
	}
	j := podJudge{Parts: p, obs: obs, node: free.Node, ran: map[string]testpod.Status{}}
	if !j.pod(claimant) {
		return ""
	}
	gpu, ok := j.claim(all)
	if !ok {
		return ""
	}
	j.seesOne(gpu)
	j.seesNone(claimant+"/"+sibling, "a container that names no claim, in a pod with one,", gpu,
		free.Node+"/DRA driver", "see which containers get the DRA driver's CDI devices: the container runtime must inject them only into containers that name the claim")
	one, other := j.pod(bystander), j.pod(asking)
	j.seesNone(bystander+"/"+looker, "a container without a claim", gpu,
		free.Node+"/container runtime", "see that the container runtime injects devices only by claim or device plugin: the default runtime must not add all GPUs to every container")
	j.seesNone(asking+"/"+looker, "a container without a claim that sets NVIDIA_VISIBLE_DEVICES=all", gpu,
		free.Node+"/container toolkit", "set accept-nvidia-visible-devices-envvar-when-unprivileged = false in the container toolkit's config.toml on every GPU node")
	if one && other {
		j.together()
	}
	return free.Node
}

// podJudge judges the pods of one node.
type podJudge struct {
	*conformance.Parts
	obs  []check.Observation
	node string
	// ran are the pods that ran on the node.
	ran map[string]testpod.Status
}

// pod reports whether a pod ran on the node.
func (j *podJudge) pod(name string) bool {
	s, id, ok := conformance.Require[testpod.Status](&j.Builder, j.obs, kindPod, name)
	if !ok {
		return false
	}
	pod := "pod " + s.Pod
	switch {
	case name == claimant && s.Claim != nil && !s.Claim.Allocated && s.Unschedulable():
		j.Fail(id, "ResourceClaim of "+s.Pod, "see the events of the scheduler for the pod, and the check dra_support", "it was not allocated, with a GPU free on %s: %s", j.node, s.Summary())
	case !s.Running():
		j.Unobserved(id, pod, "see the events of the pod; its image is telemetry.loadImage of the site file", "it does not run, so its devices are unknown: %s", s.Summary())
	case s.Node != j.node:
		j.Unobserved(id, pod, "run the check again", "it runs on %q, want %s", s.Node, j.node)
	default:
		j.ran[name] = s
		return true
	}
	return false
}

// claim finds the GPU that was allocated.
func (j *podJudge) claim(all []inventory.Slice) (inventory.GPU, bool) {
	s, id, ok := conformance.Require[testpod.Status](&j.Builder, j.obs, kindPod, claimant)
	if !ok {
		return inventory.GPU{}, false
	}
	claim := "ResourceClaim of " + s.Pod
	const remedy = "see the events of the scheduler, and the check dra_support"
	if s.Claim == nil || !s.Claim.Allocated || len(s.Claim.Devices) != 1 || !slices.Equal(s.Claim.ReservedFor, []string{s.UID}) {
		j.Fail(id, claim, remedy, "the pod runs, but its claim does not have exactly one device that is reserved for it: %+v", s.Claim)
		return inventory.GPU{}, false
	}
	d := s.Claim.Devices[0]
	gpu, found := inventory.FindGPU(all, j.node, d.Pool, d.Device)
	switch {
	case !found || d.Driver != inventory.Driver:
		j.Fail(id, claim, remedy, "device %s/%s/%s was allocated, which is not a GPU of driver %s on %s", d.Driver, d.Pool, d.Device, inventory.Driver, j.node)
		return gpu, false
	case gpu.UUID == "":
		j.Unobserved(id, claim, "install NVIDIA's DRA driver, version 25 or newer", "the slice of device %s/%s has no uuid, so it cannot be distinguished from other GPUs", d.Pool, d.Device)
		return gpu, false
	}
	return gpu, true
}

// devices are those that a container saw; its pod must be the one that was judged.
func (j *podJudge) devices(target string) (Devices, string, bool) {
	name, _, _ := strings.Cut(target, "/")
	pod, ran := j.ran[name]
	if !ran {
		return Devices{}, "", false
	}
	d, id, ok := conformance.Require[podDevices](&j.Builder, j.obs, kindDevices, target)
	if ok && d.UID != pod.UID {
		j.Unobserved(id, "container "+target, "run the check again", "its log is of another pod")
		return Devices{}, id, false
	}
	return d.Devices, id, ok
}

// seesOne requires that the container with the claim sees exactly the allocated GPU.
func (j *podJudge) seesOne(gpu inventory.GPU) {
	const target = claimant + "/" + claimed
	d, id, ok := j.devices(target)
	if !ok {
		return
	}
	suspect := j.node + "/DRA driver"
	const remedy = "see the log of the DRA driver's kubelet plugin on the node, and the CDI specification that it wrote for the claim"
	switch {
	case d.Tool == toolFailed:
		j.Unobserved(id, "container "+target, "run nvidia-smi on "+j.node, "nvidia-smi failed in it: %s", d.ToolOutput)
	case !d.Any():
		j.Fail(id, suspect, remedy, "a container with a claim sees no GPU, want %s", gpu.UUID)
	case !slices.Equal(d.UUIDs, []string{gpu.UUID}) || len(d.Files) != 1:
		j.Fail(id, suspect, remedy, "a container with a claim sees %s, want only %s", d, gpu.UUID)
	default:
		j.Shown(check.Figure{Name: "GPUs seen with a claim", Value: float64(len(d.UUIDs)), Unit: "GPUs", Limit: 1, Relation: "==", Source: "one GPU was allocated"})
	}
}

// seesNone requires that a container sees no GPU.
func (j *podJudge) seesNone(target, container string, gpu inventory.GPU, suspect, remedy string) {
	d, id, ok := j.devices(target)
	if !ok {
		return
	}
	switch {
	case d.Any():
		message := fmt.Sprintf("%s sees %s", container, d)
		if slices.Contains(d.UUIDs, gpu.UUID) {
			message += ", including the one that is allocated to another container"
		}
		j.Fail(id, suspect, remedy, "%s", message)
	case d.None():
		j.Shown(check.Figure{Name: "GPUs seen by " + target, Value: 0, Unit: "GPUs", Limit: 0, Relation: "==", Source: "no claim"})
	default:
		j.Unobserved(id, "container "+target, "run nvidia-smi on "+j.node, "nvidia-smi failed in it: %s", d.ToolOutput)
	}
}

// String describes the devices.
func (d Devices) String() string {
	return fmt.Sprintf("%d GPUs (%s) and %d device files (%s)", len(d.UUIDs), strings.Join(d.UUIDs, ", "), len(d.Files), strings.Join(d.Files, ", "))
}

// together requires that the other pods started, and printed their devices, while the pod
// with the claim held its GPU.
func (j *podJudge) together() {
	all, id, ok := conformance.Require[[]testpod.Status](&j.Builder, j.obs, kindTogether, "")
	if !ok {
		return
	}
	first := j.ran[claimant]
	for _, name := range []string{claimant, bystander, asking} {
		before := j.ran[name]
		after := testpod.Status{}
		if i := slices.IndexFunc(all, func(s testpod.Status) bool { return s.UID == before.UID && s.UID != "" }); i >= 0 {
			after = all[i]
		}
		switch {
		case !after.Running():
			j.Unobserved(id, "pod "+before.Pod, "run the check again", "it stopped before all pods had printed their devices: %s", after.Summary())
			return
		case name == claimant && (after.Claim == nil || !after.Claim.Allocated || after.Claim.UID != before.Claim.UID):
			j.Unobserved(id, "ResourceClaim of "+before.Pod, "run the check again", "it was deallocated before all pods had printed their devices")
			return
		case name != claimant && startedAt(after).Before(startedAt(first)):
			j.Unobserved(id, "pod "+before.Pod, "run the check again", "it started before the pod with the claim, so its devices prove nothing")
			return
		}
	}
	j.Shown()
}

// startedAt is the start of the first of a pod's containers.
func startedAt(s testpod.Status) time.Time {
	var first time.Time
	for _, c := range s.Containers {
		if first.IsZero() || c.Since.Before(first) {
			first = c.Since
		}
	}
	return first
}

// judgeAdmission requires that pod security refuses what bypasses claims.
func judgeAdmission(p *conformance.Parts, obs []check.Observation) {
	answer, id, ok := conformance.Require[admission](&p.Builder, obs, kindAdmission, plain)
	if !ok {
		return
	}
	if !answer.Admitted {
		p.Unobserved(id, "dry run of a pod", "find what refuses the pod: an admission webhook, a quota, or missing permissions", "a plain pod is refused, so refusals of other pods prove nothing: %s", answer.Message)
		return
	}
	judgeRefusal(p, obs, hostPath, "the host path /dev")
	judgeRefusal(p, obs, privileged, "a privileged container")
}

func judgeRefusal(p *conformance.Parts, obs []check.Observation, name, feature string) {
	answer, id, ok := conformance.Require[admission](&p.Builder, obs, kindAdmission, name)
	switch {
	case !ok:
	case answer.Admitted:
		p.Fail(id, "pod security", "enable the admission plugin PodSecurity, and remove this user from its exemptions",
			"a pod with %s is admitted in a namespace that enforces the level baseline: it sees every device of its node", feature)
	case answer.Code != 403 || !strings.Contains(answer.Message, "PodSecurity"):
		p.Unobserved(id, "pod security", "find what refuses the pod", "a pod with %s is refused, but not by pod security: %s", feature, answer.Message)
	default:
		p.Shown(check.Figure{Name: "pods admitted with " + feature, Value: 0, Unit: "pods", Limit: 0, Relation: "==", Source: "pod security standard baseline"})
	}
}
