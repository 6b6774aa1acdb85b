package access

import (
	"context"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the requirement.
const Name = "secure_accelerator_access"

// timeout for a pod to be placed, to run and to print its devices, including the pull of its
// image: as in aicr.
const timeout = 5 * time.Minute

// Kinds of observations, and what their figures are.
const (
	kindSlices    = "resource-slices" // []inventory.Slice
	kindFree      = "free-devices"    // freeNode
	kindPod       = "pod"             // testpod.Status
	kindDevices   = "devices-seen"    // podDevices, and the log
	kindTogether  = "pods-together"   // []testpod.Status
	kindAdmission = "admission"       // admission
)

// The pods, and the containers of the first.
const (
	claimant  = "claimant"
	bystander = "bystander"
	asking    = "asking"

	claimed = "claimed"
	sibling = "sibling"
	looker  = "looker" // the container of the other pods
)

// The pods of dry runs.
const (
	plain      = "plain"
	hostPath   = "host-path"
	privileged = "privileged"
)

// freeNode is the node that all pods are placed on; empty where no GPU is free.
type freeNode struct {
	GPUs []inventory.NodeGPUs `json:"rooms"`
	Node string               `json:"node,omitempty"`
	// Plugin: the device plugin mediates the access, and Usage is that of its resource by node.
	Plugin bool                  `json:"plugin,omitempty"`
	Usage  map[string]kube.Usage `json:"usage,omitempty"`
}

// podDevices are the devices that a container of the pod with the UID sees.
type podDevices struct {
	UID string `json:"uid"`
	Devices
}

// admission is the API server's answer to a pod in a dry run.
type admission struct {
	Admitted bool `json:"taken"`
	// Code, Reason and Message are those of a refusal.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Check is the check.
type Check struct {
	deps  conformance.Deps
	nodes []string
	// class of devices that the site declares; empty: it does not tell how GPUs are offered.
	class string
	image string
}

// New returns the check for a site.
func New(s *site.Site, _ *profile.Profile, deps conformance.Deps) *Check {
	// Any image with a shell will do: nvidia-smi is injected with the device.
	return &Check{deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s), class: s.GPUStack.DeviceClass, image: s.Telemetry.LoadImage}
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Claims is how many GPUs the check holds while it observes.
func (*Check) Claims() int { return 1 }

// Describe lists what the check does.
func (*Check) Describe() []string {
	return []string{
		"find a node with a GPU that a claim can get through " + inventory.Driver + "; where it offers none, through the device plugin's " + kube.GPUResource,
		"run a pod there with a claim, or with one " + kube.GPUResource + ": the container that has it must see that GPU and no other, the other container none",
		"run a pod without a claim on the same node, and one that sets NVIDIA_VISIBLE_DEVICES=all: both must see none while the first runs",
		"send the API server (dry run) a pod with the host path /dev, and a privileged one, where pod security is enforced: both must be refused, a plain one admitted",
	}
}

// Rules are the cluster-wide permissions that the check needs.
func Rules() []rbacv1.PolicyRule {
	return append(testpod.Rules(), rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}})
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.observe)
}
