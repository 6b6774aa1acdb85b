// Package snapshot is the first step of a validation: it records the cluster,
// node by node and GPU by GPU, and compares it with the site and the recipe.
package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Name of the check.
const Name = "snapshot"

// Observation kinds.
const (
	kindServer = "server-version"
	kindNodes  = "nodes"
	kindSlices = "resource-slices" // []inventory.Slice
	kindAgent  = "node-agent"      // Answer
)

// Demand is the cluster that the site and the recipe describe.
type Demand struct {
	// Nodes are the names of the GPU nodes, by the site's inventory.
	Nodes []string `json:"nodes"`
	// GPUs per node in the profile, with the source of the figure.
	GPUs       int    `json:"gpus"`
	GPUsSource string `json:"gpusSource"`
	// WithoutDRA: the site declares that no DRA driver is installed.
	WithoutDRA bool `json:"withoutDRA,omitempty"`
	// Products are the site's GPU names as nvidia-smi prints them. RecipeProducts are the
	// products of the recipe's accelerator as GPU feature discovery prints them; empty if the
	// recipe has no accelerator.
	Products       []string `json:"products"`
	RecipeProducts []string `json:"recipeProducts,omitempty"`
	// Accelerator of the recipe's criteria; empty: any.
	Accelerator string `json:"accelerator,omitempty"`
	// Arch of the recipe's accelerator; none: any.
	Arch []string `json:"arch,omitempty"`
	// Constraints of the recipe on the cluster.
	Constraints []model.Constraint `json:"constraints,omitempty"`
}

// Deps are the dependencies of Observe; Judge needs none.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// RunID labels the pods, Image is theirs.
	RunID, Image string
	// PodPatches are the site's patches of the pods of all gates.
	PodPatches []map[string]any
	// Timeout limits the wait for one pod; 5 minutes if 0, which includes the pull of its image.
	Timeout time.Duration
	// Clock is the system clock if nil.
	Clock clock.PassiveClock
}

// Check implements the step.
type Check struct {
	demand Demand
	deps   Deps
}

// New returns the check.
func New(d Demand, deps Deps) *Check {
	deps.Clock = cmp.Or[clock.PassiveClock](deps.Clock, clock.RealClock{})
	deps.Timeout = cmp.Or(deps.Timeout, 5*time.Minute)
	return &Check{demand: d, deps: deps}
}

// Name is "snapshot".
func (c *Check) Name() string { return Name }

// Describe returns the reads and comparisons of the check.
func (c *Check) Describe() []string {
	return []string{
		"read the API server's version, every node and what DRA drivers publish",
		"run a pod on each node of which these do not tell the GPU's product, the driver or the operating system, and read its log",
		fmt.Sprintf("compare the nodes with %d GPU nodes with %d GPUs each (%s), one driver, and %d constraints of the recipe",
			len(c.demand.Nodes), c.demand.GPUs, strings.Join(c.demand.Products, " or "), len(c.demand.Constraints)),
	}
}

// Node is the observed state of a node.
type Node struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Unschedulable: it is cordoned.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Capacity and Allocatable are GPUs.
	Capacity    int `json:"capacity"`
	Allocatable int `json:"allocatable"`
	// Labels about GPUs, the operating system and the instance.
	Labels   map[string]string `json:"labels,omitempty"`
	Arch     string            `json:"arch"`
	OSImage  string            `json:"osImage"`
	Kernel   string            `json:"kernel"`
	Kubelet  string            `json:"kubelet"`
	Provider string            `json:"provider,omitempty"`
}

// Server is the API server's version.
type Server struct {
	Version string `json:"version"`
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	cluster, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	if err := c.observe(rec, kindServer, "GET /version", func() (any, error) {
		v, err := cluster.Client.Discovery().ServerVersion()
		if err != nil {
			return nil, fmt.Errorf("read the version: %w", err)
		}
		return Server{Version: v.GitVersion}, nil
	}); err != nil {
		return err
	}
	nodes := []Node{}
	if err := c.observe(rec, kindNodes, "GET /api/v1/nodes", func() (any, error) {
		list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		for i := range list.Items {
			nodes = append(nodes, nodeOf(&list.Items[i]))
		}
		slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
		return nodes, nil
	}); err != nil {
		return err
	}
	published := []inventory.Slice{}
	if err := c.observe(rec, kindSlices, "GET /apis/resource.k8s.io/v1/resourceslices", func() (any, error) {
		all, err := inventory.ListSlices(ctx, cluster)
		if apierrors.IsNotFound(err) {
			return published, nil // the cluster has no dynamic resource allocation
		}
		if err == nil {
			published = all
		}
		return published, err
	}); err != nil {
		return err
	}
	return c.runAgents(ctx, cluster, rec, c.requests(nodes, published))
}

func (c *Check) observe(rec check.Recorder, kind, command string, read func() (any, error)) error {
	attempt := check.Observer{Recorder: rec, Clock: c.deps.Clock}.Begin(kind, "cluster", command)
	return attempt.Record(read())
}

// prefixes of the recorded labels.
var prefixes = []string{
	"nvidia.com/", releaseLabel, corev1.LabelInstanceTypeStable, "karpenter.sh/", "topology.kubernetes.io/",
}

func nodeOf(n *corev1.Node) Node {
	out := Node{
		Name: n.Name, Ready: kube.Ready(n), Unschedulable: n.Spec.Unschedulable,
		Capacity: kube.Count(n.Status.Capacity, kube.GPUResource), Allocatable: kube.Count(n.Status.Allocatable, kube.GPUResource),
		Labels: map[string]string{},
		Arch:   n.Status.NodeInfo.Architecture, OSImage: n.Status.NodeInfo.OSImage, Kernel: n.Status.NodeInfo.KernelVersion,
		Kubelet: n.Status.NodeInfo.KubeletVersion, Provider: n.Spec.ProviderID,
	}
	for key, value := range n.Labels {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(key, p) }) {
			out.Labels[key] = value
		}
	}
	return out
}
