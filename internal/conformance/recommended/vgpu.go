package recommended

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// kindVirtualOffer is the observation of virtual GPUs: []virtualOffer.
const kindVirtualOffer = "virtual-offer"

//go:embed vgpu.yaml
var virtualFile []byte

// virtualNames are the names by which virtual GPUs are known.
type virtualNames struct {
	Resources []namedResource `json:"resources"`
	Label     struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	} `json:"label"`
	Types []string `json:"types"`
}

func loadVirtualNames() (virtualNames, error) {
	k, err := loadNames[virtualNames]("vgpu.yaml", virtualFile)
	if err != nil {
		return k, err
	}
	return k, compileNames("vgpu.yaml", k.Resources)
}

// description of a virtual resource; empty for other resources.
func (k virtualNames) description(resource string) string {
	for _, r := range k.Resources {
		if r.form.MatchString(resource) {
			return r.What
		}
	}
	return ""
}

// devices counts the virtual devices by node.
func (k virtualNames) devices(published []resourcev1.ResourceSlice) map[string]int {
	out := map[string]int{}
	for _, s := range published {
		for _, d := range s.Spec.Devices {
			if kind := inventory.Attribute(inventory.Driver, d, "type"); s.Spec.NodeName != nil && kind != "" && slices.Contains(k.Types, kind) {
				out[*s.Spec.NodeName]++
			}
		}
	}
	return out
}

// virtualOffer is what a node offers of virtual GPUs.
type virtualOffer struct {
	Node string `json:"node"`
	// Resources has the allocatable count of each virtual resource, and What its description.
	Resources map[string]int64  `json:"resources,omitempty"`
	What      map[string]string `json:"what,omitempty"`
	// Devices counts the virtual devices of the DRA driver.
	Devices int `json:"devices,omitempty"`
}

func (n virtualOffer) any() bool { return len(n.Resources) > 0 || n.Devices > 0 }

// VGPU checks virtualized_accelerator: nodes offer virtual GPUs by device plugins, GPU
// feature discovery or the DRA driver; a pod that requests one runs, and one that requests
// more than any node has is unschedulable.
type VGPU struct {
	deps  conformance.Deps
	nodes []string
	image string
}

// NewVGPU returns the check for a site.
func NewVGPU(s *site.Site, _ *profile.Profile, deps conformance.Deps) *VGPU {
	return &VGPU{deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s), image: s.Telemetry.LoadImage} // the pods only sleep
}

// Name implements check.Check.
func (*VGPU) Name() string { return "virtualized_accelerator" }

// Describe lists what the check does.
func (c *VGPU) Describe() []string {
	return []string{
		fmt.Sprintf("read which of %d nodes offer virtual GPUs: as resources, by their labels, through DRA", len(c.nodes)),
		"where one does, create a pod with one: it must run; create a pod with more than any node has: it must be unschedulable",
	}
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *VGPU) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), c.observe)
}

func (c *VGPU) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (err error) {
	rec.Progress("reading which virtual GPUs are offered")
	attempt := rec.Begin(kindVirtualOffer, "cluster", "GET nodes, resourceslices of driver "+inventory.Driver)
	offers, failed := c.offers(ctx, cluster)
	if err := attempt.Record(offers, failed); err != nil || failed != nil {
		return err
	}
	resource, nodes, count := largestVirtual(offers)
	if resource == "" {
		return nil
	}
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "vgpu", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	return allocate(ctx, r, rec, allocationRequest{check: c.Name(), image: c.image, resource: resource, nodes: nodes, tooMany: count + 1, timeout: c.deps.Timeout})
}

// largestVirtual is the virtual resource with the highest count on one node, that count, and
// the nodes that have any of it.
func largestVirtual(offers []virtualOffer) (resource string, nodes []string, count int64) {
	for _, o := range offers {
		for _, name := range slices.Sorted(maps.Keys(o.Resources)) {
			if o.Resources[name] > count {
				resource, count = name, o.Resources[name]
			}
		}
	}
	for _, o := range offers {
		if o.Resources[resource] > 0 {
			nodes = append(nodes, o.Node)
		}
	}
	return resource, nodes, count
}

func (c *VGPU) offers(ctx context.Context, cluster *kube.Cluster) ([]virtualOffer, error) {
	k, err := loadVirtualNames()
	if err != nil {
		return nil, err
	}
	nodes, err := inventoryNodes(ctx, cluster, c.nodes)
	if err != nil {
		return nil, err
	}
	published, err := inventory.ResourceSlices(ctx, cluster, inventory.Driver)
	if err != nil {
		return nil, err
	}
	devices := k.devices(published)
	out := []virtualOffer{}
	for _, n := range nodes {
		o := virtualOffer{Node: n.Name, Resources: map[string]int64{}, What: map[string]string{}, Devices: devices[n.Name]}
		for name, quantity := range n.Status.Allocatable {
			what := k.description(string(name))
			if name == kube.GPUResource && n.Labels[k.Label.Name] == "true" {
				what = "a vGPU, by the node's label " + k.Label.Name
			}
			if count := quantity.Value(); what != "" && count > 0 {
				o.Resources[string(name)], o.What[string(name)] = count, what
			}
		}
		out = append(out, o)
	}
	return out, nil
}
