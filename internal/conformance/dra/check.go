package dra

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the requirement.
const Name = "dra_support"

// timeout for a pod to be placed and to run, including the pull of its image: as in aicr.
const timeout = 5 * time.Minute

// Kinds of observations, and what their figures are.
const (
	kindServed = "served-versions"  // served
	kindClass  = "device-class"     // class
	kindSlices = "resource-slices"  // []inventory.Slice
	kindFree   = "free-devices"     // freeNodes
	kindPod    = "claim-with-a-pod" // testpod.Status
)

// Targets of kindPod: the names of the pods, and the first again after the second.
const (
	allocatable      = "allocatable"
	impossible       = "impossible"
	allocatableAgain = "allocatable, still"
)

// The required API.
const (
	group   = "resource.k8s.io"
	version = "v1"
)

// served is what the API server serves of the group.
type served struct {
	// Versions of the group; empty when it is not served.
	Versions []string `json:"versions"`
	// Resources of version v1.
	Resources []string `json:"resources,omitempty"`
}

// class is the driver's DeviceClass.
type class struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
	// Selectors are its CEL expressions.
	Selectors []string `json:"selectors,omitempty"`
}

// freeNodes are the GPUs of every node, and the nodes that the pods may be placed on.
type freeNodes struct {
	GPUs  []inventory.NodeGPUs `json:"rooms"`
	Nodes []string             `json:"nodes"`
}

// Check is the check.
type Check struct {
	deps  conformance.Deps
	nodes []string
	gpus  int
	// products are the profile's names of the GPU.
	products []string
	source   string
	image    string
}

// New returns the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps conformance.Deps) *Check {
	return &Check{
		deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s),
		gpus: int(p.Node.GPUs.Value), products: p.GPU.Products, source: "profile " + p.Name + " node.gpus: " + p.Node.GPUs.Source,
		image: s.Telemetry.LoadImage, // the pods only sleep: any image with a shell
	}
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes.
func (*Check) Claims() int { return 1 }

// Describe lists what the check does.
func (c *Check) Describe() []string {
	return []string{
		"read whether resource.k8s.io/v1 is served, and DeviceClass " + inventory.Driver,
		fmt.Sprintf("count the GPUs in the ResourceSlices of driver %s on each of %d nodes: %d each", inventory.Driver, len(c.nodes), c.gpus),
		"create a pod with a claim of one GPU: the claim must be allocated and reserved for the pod, and the pod must run",
		"create a pod with a claim that no device matches: the claim must not be allocated, and the pod must be unschedulable",
	}
}

// Rules are the cluster-wide permissions that the check needs.
func Rules() []rbacv1.PolicyRule {
	return append(testpod.Rules(), rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{"deviceclasses"}, Verbs: []string{"get"}})
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.observe)
}
