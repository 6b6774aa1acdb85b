package access

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// parts: the devices in four containers, the proof that they ran at the same time, and two refused pods.
const parts = 7

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	var p conformance.Parts
	free := judgePods(&p, obs)
	judgeAdmission(&p, obs)
	return p.Judgement(parts, fmt.Sprintf("on %s a container with %s saw its GPU and no other; another container of its pod, a pod without %[2]s and a pod that requests all GPUs saw none; "+
		"a host path and a privileged container were refused", free.Node, free.request()))
}

// request is what a container has that may see a GPU.
func (f freeNode) request() string {
	if f.Plugin {
		return "one " + kube.GPUResource
	}
	return "a claim"
}

// mediator is the program that gives containers their devices, on the node.
func (f freeNode) mediator() string {
	if f.Plugin {
		return f.Node + "/device plugin"
	}
	return f.Node + "/DRA driver"
}

// judgePods judges what containers see, and returns their node if it could judge them.
func judgePods(p *conformance.Parts, obs []check.Observation) freeNode {
	all, _, ok := conformance.Require[[]inventory.Slice](&p.Builder, obs, kindSlices, "")
	if !ok {
		return freeNode{}
	}
	free, id, ok := conformance.Require[freeNode](&p.Builder, obs, kindFree, "")
	if !ok {
		return freeNode{}
	}
	if free.Node == "" {
		why := "a claim could get" + inventory.DescribeHolders(free.GPUs)
		if free.Plugin {
			why = "a pod could get: none is in a ResourceSlice of " + inventory.Driver + ", and of " + kube.GPUResource + describeUsage(free.Usage)
		}
		p.Unobserved(id, "free GPUs", "run the check when a GPU is free; the holders are in the message", "no node of the inventory has a GPU that %s", why)
		return freeNode{}
	}
	j := podJudge{Parts: p, obs: obs, node: free.Node, free: free, ran: map[string]testpod.Status{}}
	if !j.pod(claimant) {
		return freeNode{}
	}
	var gpu inventory.GPU
	if !free.Plugin {
		if gpu, ok = j.claim(all); !ok {
			return freeNode{}
		}
	}
	gpu = j.seesOne(gpu)
	j.seesNone(claimant+"/"+sibling, "a container that has no GPU, in a pod with one,", gpu,
		free.mediator(), "see which containers get the devices of the device plugin or DRA driver: the container runtime must inject them only into the container that requests them")
	one, other := j.pod(bystander), j.pod(asking)
	j.seesNone(bystander+"/"+looker, "a container without a claim", gpu,
		free.Node+"/container runtime", "see that the container runtime injects devices only by claim or device plugin: the default runtime must not add all GPUs to every container")
	j.seesNone(asking+"/"+looker, "a container without a claim that sets NVIDIA_VISIBLE_DEVICES=all", gpu,
		free.Node+"/container toolkit", "set accept-nvidia-visible-devices-envvar-when-unprivileged = false in the container toolkit's config.toml on every GPU node")
	if one && other {
		j.together()
	}
	return free
}

// describeUsage lists how many GPUs of each node the device plugin offers, and who holds them.
func describeUsage(usage map[string]kube.Usage) string {
	var out []string
	for _, node := range slices.Sorted(maps.Keys(usage)) {
		parts := []string{fmt.Sprintf(" %s has %d of %d free", node, usage[node].Free(), usage[node].Allocatable)}
		for _, h := range usage[node].Holders {
			parts = append(parts, fmt.Sprintf("pod %s/%s holds %d", h.Namespace, h.Pod, h.Count))
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return strings.Join(out, ";")
}

// podJudge judges the pods of one node.
type podJudge struct {
	*conformance.Parts
	obs  []check.Observation
	node string
	free freeNode
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

// seesOne requires that the container with the GPU sees exactly the allocated one, and returns it. The
// API does not tell which one the device plugin allocated: then it is the one that was seen.
func (j *podJudge) seesOne(gpu inventory.GPU) inventory.GPU {
	const target = claimant + "/" + claimed
	d, id, ok := j.devices(target)
	if !ok {
		return gpu
	}
	if j.free.Plugin && len(d.UUIDs) > 0 {
		gpu.UUID = d.UUIDs[0]
	}
	suspect, request := j.free.mediator(), j.free.request()
	remedy := "see the log of the DRA driver's kubelet plugin on the node, and the CDI specification that it wrote for the claim"
	want := gpu.UUID
	if j.free.Plugin {
		remedy, want = "see the log of the device plugin's pod on the node, and the configuration of the container toolkit", "one GPU"
	}
	switch {
	case d.Tool == toolFailed:
		j.Unobserved(id, "container "+target, "run nvidia-smi on "+j.node, "nvidia-smi failed in it: %s", d.ToolOutput)
	case !d.Any():
		j.Fail(id, suspect, remedy, "a container with %s sees no GPU, want %s", request, want)
	case !slices.Equal(d.UUIDs, []string{gpu.UUID}) || len(d.Files) != 1:
		j.Fail(id, suspect, remedy, "a container with %s sees %s, want only %s", request, d, want)
	default:
		j.Shown(check.Figure{Name: "GPUs seen with " + request, Value: float64(len(d.UUIDs)), Unit: "GPUs", Limit: 1, Relation: "==", Source: "one GPU was allocated"})
	}
	return gpu
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
		j.Shown(check.Figure{Name: "GPUs seen by " + target, Value: 0, Unit: "GPUs", Limit: 0, Relation: "==", Source: "it has no GPU"})
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
		case name == claimant && !j.free.Plugin && (after.Claim == nil || !after.Claim.Allocated || after.Claim.UID != before.Claim.UID):
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
