package gpustack

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload/gangproof"
)

const remedySlices = "see the log of the DRA driver's kubelet plugin on the node, and nvidia-smi there"

// judgeSlices requires the profile's GPUs in the slices of every node of the inventory, and of no
// other. judgeNode requires that the device plugin does not offer them, too.
func (g *Gate) judgeSlices(b *check.Builder, o check.Observation, found []sliceFigures) {
	offered := 0
	for _, name := range g.nodes {
		i := slices.IndexFunc(found, func(f sliceFigures) bool { return f.Node == name })
		if i < 0 {
			b.Unobserved(o.ID, name, "run the gate again", "its ResourceSlices were not observed")
			continue
		}
		f := found[i]
		offered += f.GPUs
		for _, problem := range f.Problems {
			b.Fail(o.ID, name, remedySlices, "%s", problem)
		}
		if f.GPUs != g.wantGPUs {
			b.Fail(o.ID, name, remedySlices, "offers %d GPUs in %d ResourceSlices of %s, %d are expected", f.GPUs, f.Slices, g.stack.DeviceClass, g.wantGPUs)
		}
	}
	for _, f := range found {
		if !slices.Contains(g.nodes, f.Node) && !slices.Contains(g.site.Inventory.LeftOut, f.Node) && !g.site.Inventory.OfOtherSite(f.Node) {
			b.Fail(o.ID, f.Node, remedyUnlisted, "has %d GPUs and is not in the inventory", f.GPUs)
		}
	}
	b.Figure(check.Figure{
		Name: "GPUs offered through DRA", Value: float64(offered), Unit: "GPUs",
		Limit: float64(g.wantGPUs * len(g.nodes)), Relation: "==", Source: "inventory x " + g.gpuSource,
	})
}

const remedyClass = "compare its selectors with the attributes of the devices (kubectl get resourceslices -o yaml); the class and the kubelet plugin must be of one version of the DRA driver's chart"

// judgeClass requires the class, and notes whether pods get its GPUs by requests of nvidia.com/gpu, too.
func (g *Gate) judgeClass(b *check.Builder, obs []check.Observation) {
	suspect := "DeviceClass " + g.stack.DeviceClass
	class, o, ok := check.Require[classFigures](b, obs, kindClass, "", suspect, readRemedy(obs, kindClass))
	switch {
	case !ok:
	case !class.Found:
		b.Fail(o.ID, suspect, "install NVIDIA's DRA driver with GPUs enabled (chart nvidia-dra-driver-gpu, resources.gpus.enabled)", "does not exist: no claim can request a GPU")
	case class.ExtendedResource == kube.GPUResource:
		b.Note(o.ID, suspect, "", "maps the extended resource %s (extendedResourceName, Kubernetes 1.34 or newer with DRAExtendedResource): pods that request it without a claim get GPUs, too", kube.GPUResource)
	case class.ExtendedResource != "":
		b.Note(o.ID, suspect, "", "maps the extended resource %s, and not %s: pods that request the latter without a claim stay Pending", class.ExtendedResource, kube.GPUResource)
	default:
		b.Note(o.ID, suspect, "", "maps no extended resource: pods that request %s without a claim stay Pending", kube.GPUResource)
	}
}

// claimsRefused is the scheduler's reason for nodes on which not all claims of a pod can be allocated, with
// their number (k8s.io/kubernetes, pkg/scheduler/framework/plugins/dynamicresources).
var claimsRefused = regexp.MustCompile(`\b(\d+) cannot allocate all claims`)

// refusesClaims reports whether this is the reason of a message for a number of nodes. For fewer, the others
// have another reason, and claims of one node also fail while other pods of the gang have its GPUs.
func refusesClaims(message string, nodes int) bool {
	m := claimsRefused.FindStringSubmatch(message)
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	return err == nil && n >= nodes
}

// judgeRefused fails the class if none of its claims can be allocated on any of the nodes whose slices
// offer free GPUs. Else the gang scheduler is the suspect.
func (g *Gate) judgeRefused(b *check.Builder, obs []check.Observation, fits gangproof.Proof, r gangproof.Room, fitsAfter int) bool {
	i := slices.IndexFunc(fits.Placement.Messages, func(m string) bool { return refusesClaims(m, len(r.Nodes)) })
	if !g.dra() || fits.Placement.Bound > 0 || i < 0 || fitsAfter < r.Fits {
		return false
	}
	selectors := "none"
	if found := check.OfKind(obs, kindClass); len(found) == 1 {
		if class, err := check.Decode[classFigures](found[0]); err == nil && len(class.Selectors) > 0 {
			selectors = strings.Join(class.Selectors, "; ")
		}
	}
	b.Fail(fits.ID, "DeviceClass "+g.stack.DeviceClass, remedyClass, "no claim of it was allocated, though ResourceSlices offer free GPUs for %d pods: %s; its selectors: %s", r.Fits, fits.Placement.Messages[i], selectors)
	return true
}
