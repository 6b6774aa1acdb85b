package dra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

// parts: the API, the class, the slices, the allocated claim, the unallocated claim.
const parts = 5

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 || c.gpus < 1 {
		return check.NotObserved("the site's inventory has no GPU nodes, or its profile no GPUs")
	}
	var p conformance.Parts
	if judgeServed(&p, obs) {
		judgeClass(&p, obs)
		if all, ok := c.judgeSlices(&p, obs); ok {
			judgeClaims(&p, obs, all)
		}
	}
	return p.Judgement(parts, fmt.Sprintf("resource.k8s.io/v1 is served, %d nodes offer %d GPUs each through %s, a claim was allocated, and a claim that no device matches was not",
		len(c.nodes), c.gpus, inventory.Driver))
}

func judgeServed(p *conformance.Parts, obs []check.Observation) bool {
	api, id, ok := conformance.Require[served](&p.Builder, obs, kindServed, "")
	if !ok {
		return false
	}
	suspect := "API " + group + "/" + version
	if !slices.Contains(api.Versions, version) {
		message := "the API server does not serve " + group
		if len(api.Versions) > 0 {
			message = fmt.Sprintf("the API server serves %s only as %s, not the stable %s", group, strings.Join(api.Versions, ", "), version)
		}
		p.Fail(id, suspect, "run Kubernetes 1.34 or newer, where the API is on by default; do not disable it with --runtime-config", "%s", message)
		return false
	}
	var missing []string
	for _, r := range []string{"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"} {
		if !slices.Contains(api.Resources, r) {
			missing = append(missing, r)
		}
	}
	if len(missing) > 0 {
		p.Fail(id, suspect, "do not disable resources of the API with --runtime-config", "it lacks %s", strings.Join(missing, ", "))
		return false
	}
	p.Shown()
	return true
}

func judgeClass(p *conformance.Parts, obs []check.Observation) {
	c, id, ok := conformance.Require[class](&p.Builder, obs, kindClass, "")
	switch {
	case !ok:
	case !c.Found:
		p.Fail(id, "DeviceClass "+inventory.Driver, "install NVIDIA's DRA driver with GPUs enabled (chart nvidia-dra-driver-gpu, resources.gpus.enabled)", "not found: no claim can request a GPU")
	default:
		p.Shown()
	}
}

// judgeSlices compares the slices of every node of the inventory with the profile.
func (c *Check) judgeSlices(p *conformance.Parts, obs []check.Observation) (all []inventory.Slice, ok bool) {
	all, id, ok := conformance.Require[[]inventory.Slice](&p.Builder, obs, kindSlices, "")
	if !ok {
		return nil, false
	}
	good, seen := 0, map[string]string{}
	for _, node := range c.nodes {
		gpus, published, problems := inventory.GPUsOnNode(all, node)
		known := c.judgeGPUs(p, id, node, gpus, seen)
		if len(gpus) == c.gpus {
			if known {
				good++
			}
			continue
		}
		message := fmt.Sprintf("driver %s offers %d GPUs, want %d by the profile", inventory.Driver, len(gpus), c.gpus)
		if published == 0 {
			message = fmt.Sprintf("driver %s publishes no ResourceSlice", inventory.Driver)
			if others := otherDrivers(all, node); len(others) > 0 {
				message += "; slices of other drivers do not count: " + strings.Join(others, ", ")
			}
		}
		if len(problems) > 0 {
			message += ": " + strings.Join(problems, "; ")
		}
		p.Fail(id, node, "see the log of the DRA driver's kubelet plugin on the node, and nvidia-smi there", "%s", message)
	}
	figure := check.Figure{Name: "nodes whose GPUs are in resource slices", Value: float64(good), Unit: "nodes", Limit: float64(len(c.nodes)), Relation: "==", Source: "the site's inventory; " + c.source}
	if good == len(c.nodes) {
		p.Shown(figure)
	} else {
		p.Figure(figure)
	}
	return all, true
}

// judgeGPUs requires the model of the profile of each GPU of a node, and that no GPU is offered
// twice. seen has the devices by UUID.
func (c *Check) judgeGPUs(p *conformance.Parts, id, node string, gpus []inventory.GPU, seen map[string]string) bool {
	const remedy = "see the log of the DRA driver's kubelet plugin on the node, and nvidia-smi there"
	known := true
	for _, g := range gpus {
		device := g.Pool + "/" + g.Device
		other, twice := seen[g.UUID]
		switch {
		case g.UUID == "":
			p.Unobserved(id, node, remedy, "device %s has no attribute uuid: which GPU it is is unknown", device)
		case twice:
			p.Fail(id, node, remedy, "GPU %s is offered twice, as %s and %s", g.UUID, other, device)
		case g.Product == "":
			p.Unobserved(id, node, remedy, "device %s has no attribute productName: its model is unknown", device)
		case !slices.Contains(c.products, g.Product):
			p.Fail(id, node, "install the right GPU, or correct the site's profile", "device %s is a %q, want %s by the profile", device, g.Product, strings.Join(c.products, " or "))
		default:
			seen[g.UUID] = device
			continue
		}
		known = false
	}
	return known
}

func otherDrivers(all []inventory.Slice, node string) []string {
	var out []string
	for _, s := range all {
		if s.Node == node && s.Driver != inventory.Driver && !slices.Contains(out, s.Driver) {
			out = append(out, s.Driver)
		}
	}
	slices.Sort(out)
	return out
}
