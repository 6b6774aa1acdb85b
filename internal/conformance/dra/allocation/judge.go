package allocation

import (
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

const (
	remedyPods   = "see what replaced or deleted pods of the job (kubectl get events), then run it again"
	remedyRead   = "let the account list resourceclaims and resourceslices, then run it again"
	remedyClass  = "see that DeviceClass " + inventory.Driver + " selects only GPUs of that driver (kubectl get deviceclass " + inventory.Driver + " -o yaml)"
	remedySlices = "see whether the DRA driver's kubelet plugin on the node restarts (its log), then run it again"
	remedyTaint  = "read the device's taints (kubectl get resourceslices -o yaml) and nvidia-smi on the node"
	remedyTwice  = "see that the scheduler has the API server's version and that one scheduler allocates claims"
)

// Judge is Review of a number of pods with a number of GPUs each, and the figure of it.
func (f Figures) Judge(b *check.Builder, id string, pods, gpus int) {
	if f.Unread == "" && len(f.Pods) != pods {
		b.Unobserved(id, "ResourceClaims", remedyPods, "the claims of %d pods were read, the job has %d", len(f.Pods), pods)
	}
	each := map[string]int{}
	for pod := range f.Pods {
		each[pod] = gpus
	}
	b.Figure(check.Figure{
		Name: "GPUs allocated by claims", Value: float64(f.Review(b, id, each)), Unit: "GPUs", Limit: float64(gpus * pods), Relation: "==",
		Source: "GPUs of each pod x pods",
	})
}

// Review requires that claims allocate each pod its number of GPUs: GPUs of its node, and each GPU to
// one pod only. gpus has every expected pod; id is the observation. It returns the number of allocated GPUs.
func (f Figures) Review(b *check.Builder, id string, gpus map[string]int) (total int) {
	if f.Unread != "" {
		b.Unobserved(id, "ResourceClaims", remedyRead, "which GPUs the claims allocate was not observed: %s", f.Unread)
		return 0
	}
	owners := map[string]string{}
	for _, pod := range slices.Sorted(maps.Keys(gpus)) {
		if f.Pods[pod] == "" {
			b.Unobserved(id, "ResourceClaim of pod "+pod, remedyPods, "the claim of pod %s was not read", pod)
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(f.Pods)) {
		node, have := f.Pods[pod], f.GPUs[pod]
		switch {
		case len(have) == 0:
			b.Unobserved(id, "ResourceClaim of pod "+pod, "run it again; a claim is released when its pod ends", "the allocation of the claim of pod %s on %s was not observed", pod, node)
		case len(have) != gpus[pod]:
			b.Fail(id, "ResourceClaim of pod "+pod, remedyTwice, "allocates %d GPUs of %s, want %d", len(have), node, gpus[pod])
		}
		for _, gpu := range have {
			key := gpu.Pool + "/" + gpu.Device
			switch {
			case gpu.State == inventory.StateUnpublished:
				b.Unobserved(id, node, remedySlices, "the ResourceSlices of pool %s are not complete: whether device %s, which is allocated to pod %s, is a GPU of %s is unknown", gpu.Pool, key, pod, node)
			case gpu.State == inventory.StateTainted:
				b.Fail(id, node, remedyTaint, "GPU %s (%s), which is allocated to pod %s, is tainted", gpu.UUID, key, pod)
			case gpu.UUID == "":
				b.Fail(id, "DeviceClass "+f.Class, remedyClass, "device %s is allocated to pod %s, and driver %s does not offer it as a GPU with a UUID on %s", key, pod, inventory.Driver, node)
			}
			if gpu.UUID == "" {
				continue
			}
			if other, taken := owners[gpu.UUID]; taken {
				b.Fail(id, node, remedyTwice, "GPU %s (%s) is allocated to pod %s and to pod %s", gpu.UUID, key, other, pod)
				continue
			}
			owners[gpu.UUID] = pod
			total++
		}
	}
	return total
}

// UUIDs are those of a pod's GPUs.
func (f Figures) UUIDs(pod string) []string {
	var out []string
	for _, gpu := range f.GPUs[pod] {
		out = append(out, gpu.UUID)
	}
	return out
}
