package recommended

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are.
const (
	kindSharedOffer = "shared-offer"      // []sharedOffer
	kindFree        = "free-devices"      // []inventory.NodeGPUs
	kindShared      = "claim-of-two-pods" // sharedClaim
	kindParts       = "pods-with-parts"   // partPods
)

// Labels of GPU feature discovery.
const (
	labelCapable  = "nvidia.com/mig.capable"
	labelStrategy = "nvidia.com/gpu.sharing-strategy"
	labelReplicas = "nvidia.com/gpu.replicas"
)

// Extended resources that are parts of GPUs: MIG slices, and renamed replicas.
const (
	migPrefix    = "nvidia.com/mig-"
	sharedSuffix = ".shared"
	gpuPrefix    = "nvidia.com/gpu"
)

// claimName names the shared claim, alonePod the pod with a claim of its own.
const (
	claimName = "shared"
	alonePod  = "alone"
)

func sharers() []string { return []string{"first", "second"} }

// sharedOffer is what a node offers that is less than a whole GPU.
type sharedOffer struct {
	Node string `json:"node"`
	// Capable: its GPUs can be partitioned, by its label nvidia.com/mig.capable.
	Capable bool `json:"capable"`
	// Strategy and Replicas are GPU feature discovery's labels for time-slicing and MPS.
	Strategy string `json:"strategy,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
	// Parts counts the allocatable resources that are less than one GPU, by name.
	Parts map[string]int64 `json:"parts,omitempty"`
	// Devices counts those that DRA offers as parts, or for several allocations.
	Devices int `json:"devices,omitempty"`
}

func (n sharedOffer) any() bool { return len(n.Parts) > 0 || n.Devices > 0 }

// sharedClaim is a claim that two pods name, with both, and a third pod with its own claim.
type sharedClaim struct {
	Claim testpod.ClaimStatus `json:"claim"`
	Pods  []testpod.Status    `json:"pods"`
	Alone testpod.Status      `json:"alone"`
}

// partPods are pods with a part of a GPU each.
type partPods struct {
	Node     string           `json:"node"`
	Resource string           `json:"resource"`
	Pods     []testpod.Status `json:"pods"`
}

// Sharing checks gpu_sharing: two pods that name one claim run on its one GPU, and a third
// with a claim of its own does not get that GPU; where nodes offer parts of GPUs (MIG
// slices, replicas of time-slicing or MPS), two pods run with one part each.
type Sharing struct {
	deps  conformance.Deps
	nodes []string
	image string
}

// NewSharing returns the check for a site.
func NewSharing(s *site.Site, _ *profile.Profile, deps conformance.Deps) *Sharing {
	return &Sharing{deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s), image: s.Telemetry.LoadImage} // the pods only sleep
}

// Name implements check.Check.
func (*Sharing) Name() string { return "gpu_sharing" }

// Claims is how many GPUs the check holds while it observes: the shared one. The third pod
// stays pending where there is no other.
func (*Sharing) Claims() int { return 1 }

// Describe lists what the check does.
func (c *Sharing) Describe() []string {
	return []string{
		fmt.Sprintf("read which parts of GPUs %d nodes offer: MIG slices, replicas, devices that allow several allocations", len(c.nodes)),
		"create a claim of one GPU and two pods that share it: both must run; create a pod with a claim of its own: it must not get that GPU",
		"where parts are offered, create two pods with one each: both must run",
	}
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Sharing) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), c.observe)
}

func (c *Sharing) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (err error) {
	rec.Progress("reading which parts of GPUs are offered")
	attempt := rec.Begin(kindSharedOffer, "cluster", "GET nodes, resourceslices")
	offers, failed := c.offers(ctx, cluster)
	if err := attempt.Record(offers, failed); err != nil || failed != nil {
		return err
	}
	attempt = rec.Begin(kindFree, "cluster", "GET nodes, pods, resourceslices, resourceclaims: devices of the inventory's nodes that are not allocated")
	var free []inventory.NodeGPUs
	all, failed := inventory.ListSlices(ctx, cluster)
	if failed == nil {
		free, failed = inventory.Usage(ctx, cluster, c.nodes, all)
	}
	if err := attempt.Record(free, failed); err != nil || failed != nil {
		return err
	}
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "sharing", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if nodes := inventory.NodesWithFree(free, 1); len(nodes) > 0 {
		rec.Progress("creating a claim of one GPU that two pods share")
		attempt := rec.Begin(kindShared, claimName, "create ResourceClaim "+claimName+" and two Pods that name it, then a Pod with a claim of its own on the same node; read them until they run or are unschedulable")
		shared, failed := c.share(ctx, r, nodes)
		if err := errors.Join(attempt.Record(shared, failed), ctx.Err()); err != nil {
			return err
		}
	}
	for _, o := range offers {
		for _, resource := range slices.Sorted(maps.Keys(o.Parts)) {
			if o.Parts[resource] < 2 {
				continue
			}
			rec.Progress("creating two pods with a %s each", resource)
			attempt := rec.Begin(kindParts, o.Node, "create two Pods with one "+resource+" each; read them until they run")
			parts, failed := c.runParts(ctx, r, o.Node, resource)
			return errors.Join(attempt.Record(parts, failed), ctx.Err())
		}
	}
	return nil
}

func (c *Sharing) offers(ctx context.Context, cluster *kube.Cluster) ([]sharedOffer, error) {
	nodes, err := inventoryNodes(ctx, cluster, c.nodes)
	if err != nil {
		return nil, err
	}
	published, err := inventory.ResourceSlices(ctx, cluster, inventory.Driver)
	if err != nil {
		return nil, err
	}
	devices := map[string]int{}
	for _, s := range published {
		for _, d := range s.Spec.Devices {
			if s.Spec.NodeName != nil && isPart(d) {
				devices[*s.Spec.NodeName]++
			}
		}
	}
	out := []sharedOffer{}
	for _, n := range nodes {
		replicas, err := strconv.Atoi(n.Labels[labelReplicas])
		if err != nil {
			replicas = 0 // not labelled
		}
		out = append(out, sharedOffer{
			Node: n.Name, Capable: n.Labels[labelCapable] == "true", Strategy: n.Labels[labelStrategy], Replicas: replicas,
			Parts: partsOf(n.Status.Allocatable, replicas), Devices: devices[n.Name],
		})
	}
	return out, nil
}

// isPart reports whether a device is a part of a GPU, or allows several allocations.
func isPart(d resourcev1.Device) bool {
	return d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations || inventory.Attribute(inventory.Driver, d, "type") == "mig"
}

// partsOf selects the resources that are less than one GPU; nvidia.com/gpu itself is one
// where each GPU has replicas.
func partsOf(allocatable corev1.ResourceList, replicas int) map[string]int64 {
	out := map[string]int64{}
	for name, quantity := range allocatable {
		text := string(name)
		part := strings.HasPrefix(text, migPrefix) || strings.HasPrefix(text, gpuPrefix) && strings.HasSuffix(text, sharedSuffix) || text == kube.GPUResource && replicas > 1
		if n := quantity.Value(); part && n > 0 {
			out[text] = n
		}
	}
	return out
}

func (c *Sharing) spec(name string) testpod.Spec {
	return testpod.Spec{Name: name, Check: c.Name(), Image: c.image, Containers: []testpod.Container{{Name: "sharer", Script: testpod.Sleep}}}
}

// share runs two pods with one claim on nodes with a free GPU, and a third with its own.
func (c *Sharing) share(ctx context.Context, r testpod.Runner, nodes []string) (sharedClaim, error) {
	var out sharedClaim
	if err := r.CreateClaim(ctx, c.Name(), claimName, testpod.Claim{}); err != nil {
		return out, err
	}
	for _, name := range sharers() {
		s := c.spec(name)
		s.Nodes, s.Shared, s.Containers[0].Claims = nodes, claimName, true
		if err := r.Start(ctx, s); err != nil {
			return out, err
		}
	}
	for _, name := range sharers() {
		if _, err := r.WaitFor(ctx, c.deps.Timeout, name, testpod.Status.Settled); err != nil {
			return out, err
		}
	}
	// The third pod starts once the shared claim is allocated, so that the allocator knows it.
	s := c.spec(alonePod)
	s.Nodes, s.Claim, s.Containers[0].Claims = nodes, &testpod.Claim{}, true
	if err := r.Start(ctx, s); err != nil {
		return out, err
	}
	var err error
	if out.Alone, err = r.WaitFor(ctx, c.deps.Timeout, alonePod, func(s testpod.Status) bool {
		return s.Settled() && (s.Claim != nil && s.Claim.Allocated || s.Unschedulable() || s.Terminated())
	}); err != nil {
		return out, err
	}
	for _, name := range sharers() {
		status, err := r.Get(ctx, name)
		if err != nil {
			return out, err
		}
		out.Pods = append(out.Pods, status)
	}
	out.Claim, err = r.GetClaim(ctx, claimName)
	return out, err
}

func (c *Sharing) runParts(ctx context.Context, r testpod.Runner, node, resource string) (partPods, error) {
	out := partPods{Node: node, Resource: resource}
	names := []string{"part-1", "part-2"}
	for _, name := range names {
		s := c.spec(name)
		s.Nodes, s.Limits = []string{node}, map[string]int64{resource: 1}
		if err := r.Start(ctx, s); err != nil {
			return out, err
		}
	}
	for _, name := range names {
		status, err := r.WaitFor(ctx, c.deps.Timeout, name, testpod.Status.Settled)
		if err != nil {
			return out, err
		}
		out.Pods = append(out.Pods, status)
	}
	return out, nil
}
