// Package snapshot is the first step of a validation: which cluster this is, node by
// node and GPU by GPU, held against the site and the recipe.
package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Name of the check.
const Name = "snapshot"

// The kinds of what is observed.
const (
	kindServer = "server-version"
	kindNodes  = "nodes"
)

// Demand is what the site and the recipe say the cluster is.
type Demand struct {
	// Nodes are the names of the GPU nodes, by the site's inventory.
	Nodes []string `json:"nodes"`
	// GPUs a node, by the profile, with where the figure is from.
	GPUs       int    `json:"gpus"`
	GPUsSource string `json:"gpusSource"`
	// Products are what nvidia-smi calls the site's GPUs; RecipeProducts those that the
	// recipe's accelerator may be, as GPU feature discovery writes them; none where the
	// recipe leaves the accelerator open.
	Products       []string `json:"products"`
	RecipeProducts []string `json:"recipeProducts,omitempty"`
	// Accelerator of the recipe's criteria; empty: any.
	Accelerator string `json:"accelerator,omitempty"`
	// Arch of the recipe's accelerator; none: any.
	Arch []string `json:"arch,omitempty"`
	// Constraints of the recipe on the cluster.
	Constraints []model.Constraint `json:"constraints,omitempty"`
}

// Deps are how the check gets at the cluster; zero where it only judges.
type Deps struct {
	Cluster func(ctx context.Context) (*kube.Cluster, error)
	// Clock is the real one when nil.
	Clock clock.PassiveClock
}

// Check of what the cluster is.
type Check struct {
	demand Demand
	deps   Deps
}

var _ check.Check = (*Check)(nil)

// New makes the check.
func New(d Demand, deps Deps) *Check {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	return &Check{demand: d, deps: deps}
}

// Name is "snapshot".
func (c *Check) Name() string { return Name }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		"read the API server's version and every node",
		fmt.Sprintf("hold %d GPU nodes with %d GPUs each (%s), one driver, and %d constraints of the recipe against them",
			len(c.demand.Nodes), c.demand.GPUs, strings.Join(c.demand.Products, " or "), len(c.demand.Constraints)),
	}
}

// Node is a node as it was seen.
type Node struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Unschedulable: it is cordoned.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Capacity and Allocatable are GPUs.
	Capacity    int `json:"capacity"`
	Allocatable int `json:"allocatable"`
	// Labels are those about GPUs, the operating system and the instance.
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
	if err := c.keep(rec, kindServer, "GET /version", func() (any, error) {
		v, err := cluster.Client.Discovery().ServerVersion()
		if err != nil {
			return nil, fmt.Errorf("read the version: %w", err)
		}
		return Server{Version: v.GitVersion}, nil
	}); err != nil {
		return err
	}
	return c.keep(rec, kindNodes, "GET /api/v1/nodes", func() (any, error) {
		list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list nodes: %w", err)
		}
		nodes := []Node{}
		for i := range list.Items {
			nodes = append(nodes, nodeOf(&list.Items[i]))
		}
		slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
		return nodes, nil
	})
}

func (c *Check) keep(rec check.Recorder, kind, command string, look func() (any, error)) error {
	o := check.Observation{Kind: kind, Target: "cluster", Command: command, At: c.deps.Clock.Now()}
	figures, err := look()
	o.Took.Duration = c.deps.Clock.Since(o.At)
	if err != nil {
		o.Err = err.Error()
	} else if o, err = o.WithFigures(figures); err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	return nil
}

// prefixes of the labels that are kept.
var prefixes = []string{
	"nvidia.com/", "feature.node.kubernetes.io/system-os_release", corev1.LabelInstanceTypeStable, "karpenter.sh/", "topology.kubernetes.io/",
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
