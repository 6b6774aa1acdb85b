package dra

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
)

// parts are the API, the class, the slices, the claim that is allocated, and the
// one that is not.
const parts = 5

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 || c.gpus < 1 {
		return check.NotObserved("the site's inventory has no GPU nodes, or its profile no GPUs")
	}
	var k conclude.Conclusions
	if c.judgeServed(&k, obs) {
		judgeClass(&k, obs)
		if all, ok := c.judgeSlices(&k, obs); ok {
			judgeClaims(&k, obs, all)
		}
	}
	return k.Judgement(parts, fmt.Sprintf("resource.k8s.io/v1 is served, %d nodes offer %d GPUs each through %s, a claim was allocated and one that nothing meets was not",
		len(c.nodes), c.gpus, offer.Driver))
}

func (c *Check) judgeServed(k *conclude.Conclusions, obs []check.Observation) bool {
	o, have, ok := conclude.Only[served](k, obs, kindServed, "")
	if !ok {
		return false
	}
	if !slices.Contains(have.Versions, version) {
		message := "the API server does not serve " + group + " at all"
		if len(have.Versions) > 0 {
			message = fmt.Sprintf("the API server serves %s as %s only: the stable %s is not there", group, strings.Join(have.Versions, ", "), version)
		}
		k.Fail(o, "API "+group+"/"+version, message, "run Kubernetes 1.34 or newer, where the API is on by default; do not switch it off with --runtime-config")
		return false
	}
	var missing []string
	for _, r := range []string{"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"} {
		if !slices.Contains(have.Resources, r) {
			missing = append(missing, r)
		}
	}
	if len(missing) > 0 {
		k.Fail(o, "API "+group+"/"+version, "it lacks "+strings.Join(missing, ", "), "do not switch resources of the API off with --runtime-config")
		return false
	}
	k.Shown()
	return true
}

func judgeClass(k *conclude.Conclusions, obs []check.Observation) {
	o, have, ok := conclude.Only[class](k, obs, kindClass, "")
	switch {
	case !ok:
	case !have.Found:
		k.Fail(o, "DeviceClass "+offer.Driver, "it is not there: no claim can ask for a GPU", "install NVIDIA's DRA driver with GPUs enabled (chart nvidia-dra-driver-gpu, resources.gpus.enabled)")
	default:
		k.Shown()
	}
}

// judgeSlices holds every node of the inventory against the profile. all are the
// slices, when they could be read.
func (c *Check) judgeSlices(k *conclude.Conclusions, obs []check.Observation) (all []offer.Slice, ok bool) {
	o, all, ok := conclude.Only[[]offer.Slice](k, obs, kindSlices, "")
	if !ok {
		return nil, false
	}
	good := 0
	for _, node := range c.nodes {
		gpus, found, troubles := offer.OfNode(all, node)
		if len(gpus) == c.gpus {
			good++
			continue
		}
		message := fmt.Sprintf("driver %s offers %d GPUs, the profile says %d", offer.Driver, len(gpus), c.gpus)
		if found == 0 {
			message = fmt.Sprintf("driver %s publishes no ResourceSlice", offer.Driver)
			if others := foreign(all, node); len(others) > 0 {
				message += "; others' count for nothing: " + strings.Join(others, ", ")
			}
		}
		if len(troubles) > 0 {
			message += ": " + strings.Join(troubles, "; ")
		}
		k.Fail(o, node, message, "look at the log of the DRA driver's kubelet plugin on the node, and at nvidia-smi there")
	}
	figure := check.Figure{Name: "nodes whose GPUs are in resource slices", Value: float64(good), Unit: "nodes", Limit: float64(len(c.nodes)), Relation: "==", Source: "the site's inventory; " + c.source}
	if good == len(c.nodes) {
		k.Shown(figure)
	} else {
		k.Figure(figure)
	}
	return all, true
}

// foreign are the other drivers with slices of a node.
func foreign(all []offer.Slice, node string) []string {
	var out []string
	for _, s := range all {
		if s.Node == node && s.Driver != offer.Driver && !slices.Contains(out, s.Driver) {
			out = append(out, s.Driver)
		}
	}
	slices.Sort(out)
	return out
}
