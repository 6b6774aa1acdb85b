package vgpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/giving"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no nodes")
	}
	var a standing.Account
	offered, id, ok := standing.Read[[]nodeOffer](&a, obs, kindOffer)
	if !ok {
		return a.Judgement()
	}
	if len(offered) == 0 {
		a.Unseen(id, "nodes", "none of the inventory's is there", "correct the site's inventory")
		return a.Judgement()
	}
	var there []string
	for _, o := range offered {
		if o.offers() {
			there = append(there, o.Node+": "+o.say())
		}
	}
	resource, _, _ := largest(offered)
	switch {
	case len(there) == 0:
		a.Lacks(id, "virtual GPUs", fmt.Sprintf("none of %d nodes offers any: no known resource, no label of a vGPU, no such device through DRA", len(offered)),
			"install what exposes vGPUs (NVIDIA's vGPU device plugin, or GPU Operator on nodes with vGPUs); where the platform gives out GPUs whole, say --not-applicable "+Name+"=REASON")
	case resource == "":
		a.Has("offered: %s", strings.Join(there, "; "))
		a.Lacks(id, "virtual GPUs", "they are devices of DRA alone: none was tried", "claim one, and link what shows it in the product file")
	default:
		a.Has("offered: %s", strings.Join(there, "; "))
		if tried, id, ok := standing.Read[giving.Tried](&a, obs, giving.Kind); ok {
			tried.Judge(&a, id)
		}
	}
	return a.Judgement()
}

// say is what the node offers, for a person.
func (n nodeOffer) say() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Resources)) {
		out = append(out, fmt.Sprintf("%d %s (%s)", n.Resources[name], name, n.What[name]))
	}
	if n.Devices > 0 {
		out = append(out, fmt.Sprintf("%d virtual devices through DRA", n.Devices))
	}
	return strings.Join(out, ", ")
}
