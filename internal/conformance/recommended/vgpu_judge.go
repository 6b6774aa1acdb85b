package recommended

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (c *VGPU) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return noInventory()
	}
	var a assessment
	offers, id, ok := requireOffers[virtualOffer](&a, obs, kindVirtualOffer)
	if !ok {
		return a.judgement()
	}
	var offered []string
	for _, o := range offers {
		if o.any() {
			offered = append(offered, o.Node+": "+o.describe())
		}
	}
	if len(offered) == 0 {
		a.unmet(id, "virtual GPUs", "install NVIDIA's vGPU device plugin, or the GPU Operator on nodes with vGPUs; where the platform allocates whole GPUs only, pass --not-applicable "+c.Name()+"=REASON",
			"none of %d nodes offers any: no known resource, no vGPU label, no such device through DRA", len(offers))
		return a.judgement()
	}
	a.met("offered: %s", strings.Join(offered, "; "))
	if resource, _, _ := largestVirtual(offers); resource == "" {
		a.unmet(id, "virtual GPUs", "claim one, and link the evidence in the product file", "they are devices of DRA only: none was allocated")
	} else if allocated, id, ok := require[allocation](&a, obs, kindAllocation, ""); ok {
		allocated.judge(&a, id)
	}
	return a.judgement()
}

func (n virtualOffer) describe() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Resources)) {
		out = append(out, fmt.Sprintf("%d %s (%s)", n.Resources[name], name, n.What[name]))
	}
	if n.Devices > 0 {
		out = append(out, fmt.Sprintf("%d virtual devices through DRA", n.Devices))
	}
	return strings.Join(out, ", ")
}
